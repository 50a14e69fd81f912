"""What notebooks show: frames, figures and panels."""
