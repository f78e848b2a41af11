"""Pure folds of events, drafts of a state, and rows of views. Never imports log."""
