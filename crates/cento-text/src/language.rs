//! The language of a page that does not say.

/// The language that `text` is written in, as an ISO 639-1 code, or ISO 639-3 where that has none; only if it is clear.
pub fn detect(text: &str) -> Option<&'static str> {
    let info = whatlang::detect(text)?;
    info.is_reliable().then(|| info.lang().code())
}
