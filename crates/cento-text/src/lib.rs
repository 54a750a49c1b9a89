//! cento-text
