//! cento-store
