"""The chapter as data and checks: example callers, scope policies, and one check a claim."""
