"""Sionna RT beside magnetar: the same scenes and links in both, and exports for ``magnetar validate``.

``pip install magnetar[sionna]``. ``magnetar-sionna-export`` writes exports, ``magnetar-sionna-arrays`` plain arrays;
``magnetar.sionna.arrays.save_paths`` is all that a program of one's own needs.
"""
