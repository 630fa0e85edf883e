"""The version, as a constant: reading package metadata at run time costs 60 ms."""

VERSION = "0.1.0"

# The reference program whose protocol this release speaks; hosts and SDKs read it from the init event.
COMPATIBLE_WITH = "2.1.325"
