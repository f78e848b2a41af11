"""What is true: pure folds of events, drafts of a state, rows of views. Never imports log."""
