"""Who carries sessions forward. Every driver does one thing: `drive(session)`."""
