"""The checkout as data: its sources and exercises, what they depend on, its files.

``source``      reads the reference solutions; ``practicals`` the exercises as handed out;
``closure``     computes which files a source depends on;
``files``       writes files whole or not at all; ``errors`` name file, place and remedy.
"""
