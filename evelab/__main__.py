"""``python -m evelab``."""

from evelab.cli import main

main(prog_name="evelab")
