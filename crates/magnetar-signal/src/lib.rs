//! From paths to 512 x 2 frequency observations, and from observations to arrivals (SRE).
