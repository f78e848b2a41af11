"""Who may do what: tokens and their scopes, hosts and origins, the one-time link."""
