//! The bulk path summation and candidate scoring on a GPU, with an equal CPU path.
