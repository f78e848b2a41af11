"""What drives sessions. Every driver does one thing: `drive(session)`."""
