//! Reads an uploaded file from a form.

/// A field of a form.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct FormPart<'a> {
    pub(crate) name: String,
    /// The name of the file, if it is one.
    pub(crate) file: Option<String>,
    pub(crate) content: &'a [u8],
}

/// Returns the boundary of a form, from the media type of its body.
pub(crate) fn boundary(media_type: &str) -> Option<String> {
    let (essence, parameters) = media_type.split_once(';')?;
    if !essence.trim().eq_ignore_ascii_case("multipart/form-data") {
        return None;
    }
    let mut parameters = parameters
        .split(';')
        .filter_map(|one| one.trim().split_once('='));
    let (_, boundary) = parameters.find(|(name, _)| name.eq_ignore_ascii_case("boundary"))?;
    let boundary = boundary.trim_matches('"');
    (!boundary.is_empty() && boundary.len() <= 70).then(|| boundary.to_owned())
}

/// Returns the fields of a form. What is not well-formed is left out.
pub(crate) fn parts<'a>(body: &'a [u8], boundary: &str) -> Vec<FormPart<'a>> {
    let separator = format!("--{boundary}");
    let mut found = Vec::new();
    let mut rest = body;
    while let Some(begin) = position(rest, separator.as_bytes()) {
        rest = rest.get(begin + separator.len()..).unwrap_or_default();
        let Some(part) = rest.strip_prefix(b"\r\n") else {
            break;
        };
        let end = position(part, format!("\r\n{separator}").as_bytes());
        let Some(part) = end.and_then(|end| part.get(..end)) else {
            break;
        };
        found.extend(parse(part));
    }
    found
}

fn parse(part: &[u8]) -> Option<FormPart<'_>> {
    let end = position(part, b"\r\n\r\n")?;
    let head = str::from_utf8(part.get(..end)?).ok()?;
    let disposition = head.lines().find_map(|line| {
        let (name, value) = line.split_once(':')?;
        name.eq_ignore_ascii_case("content-disposition")
            .then_some(value)
    })?;
    let value = |wanted: &str| {
        let mut parameters = disposition
            .split(';')
            .filter_map(|one| one.trim().split_once('='));
        let found = parameters.find(|(name, _)| name.eq_ignore_ascii_case(wanted));
        found.map(|(_, value)| value.trim_matches('"').to_owned())
    };
    Some(FormPart {
        name: value("name")?,
        file: value("filename"),
        content: part.get(end + 4..)?,
    })
}

fn position(text: &[u8], wanted: &[u8]) -> Option<usize> {
    text.windows(wanted.len().max(1))
        .position(|window| window == wanted)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn fields_and_files_are_read() {
        let boundary = boundary("multipart/form-data; boundary=\"xyz\"").unwrap();
        let body = b"--xyz\r\nContent-Disposition: form-data; name=\"text\"\r\n\r\nhello\r\n\
                     --xyz\r\nContent-Disposition: form-data; name=\"file\"; filename=\"a.txt\"\r\n\
                     Content-Type: text/plain\r\n\r\nline\r\n--no boundary\r\n--xyz--\r\n";
        let parts = parts(body, &boundary);
        assert_eq!(parts.len(), 2);
        assert_eq!(
            (parts[0].name.as_str(), parts[0].content),
            ("text", &b"hello"[..])
        );
        assert_eq!(parts[1].file.as_deref(), Some("a.txt"));
        assert_eq!(parts[1].content, b"line\r\n--no boundary");
        assert_eq!(super::boundary("text/plain"), None);
    }

    proptest! {
        #[test]
        fn any_bytes_are_a_form_with_some_fields(body in proptest::collection::vec(any::<u8>(), 0..300)) {
            let _ = parts(&body, "x");
            let mut framed = b"--x\r\n".to_vec();
            framed.extend(&body);
            framed.extend(b"\r\n--x--");
            let _ = parts(&framed, "x");
        }
    }
}
