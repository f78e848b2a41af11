"""States and how they change: drafts that record patches, read-only views, JSON in and out."""
