"""evelab beside the real eve: the same requests to both, and what each replies."""
