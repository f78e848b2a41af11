"""Payloads that hooks left in files because no server took them."""
