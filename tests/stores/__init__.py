"""File memory on real stores: one contract, the faults of disks and networks, and many processes at once."""
