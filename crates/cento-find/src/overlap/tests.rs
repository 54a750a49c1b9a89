//! An overlap of whole corpora against the definition.
