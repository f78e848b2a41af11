"""Who may do what: tokens and scopes, hosts and origins, sign-in links."""
