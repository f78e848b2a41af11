"""States and how they change: drafts that record patches, frozen views, JSON in and out."""
