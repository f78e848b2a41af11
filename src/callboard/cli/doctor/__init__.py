"""What `callboard doctor` checks."""
