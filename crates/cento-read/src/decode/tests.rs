//! Tests of decoding.

use std::io::Write;

use encoding_rs::{
    BIG5, EUC_KR, Encoding, GB18030, ISO_2022_JP, KOI8_R, SHIFT_JIS, WINDOWS_1251, WINDOWS_1252,
};
use flate2::Compression;
use flate2::write::{DeflateEncoder, ZlibEncoder};
use proptest::prelude::*;
use sha1::{Digest, Sha1};

use super::{coding, decode};
use crate::archive::gzip;
use crate::record::{RecordBody, RecordMetadata};
use crate::{Content, Decoded, Limits, Place, Record, Reject, Settings};

fn record(body: RecordBody) -> Record {
    Record {
        place: Place::default(),
        url: Some("http://example.org/".into()),
        ip: None,
        fetched: None,
        input: "test".into(),
        metadata: RecordMetadata::default(),
        body,
    }
}

fn response(head: &str, body: &[u8]) -> Record {
    let mut block = head.replace('\n', "\r\n").into_bytes();
    block.extend_from_slice(b"\r\n\r\n");
    block.extend_from_slice(body);
    record(RecordBody::Http(block))
}

fn decoded(record: Record) -> Decoded {
    decode(record, &Settings::default()).unwrap()
}

fn html_of(record: Record) -> String {
    let decoded = decoded(record);
    assert_eq!(decoded.reject, None);
    match decoded.page.content {
        Content::Html(text) => text,
        other => panic!("{other:?}"),
    }
}

fn reject_of(record: Record, settings: &Settings) -> Option<Reject> {
    let decoded = decode(record, settings).unwrap();
    assert_eq!(
        decoded.reject.is_some(),
        decoded.page.content == Content::None
    );
    decoded.reject.map(|rejected| rejected.reason)
}

const OK_HTML: &str = "HTTP/1.1 200 OK\nContent-Type: text/html";

/// Long enough to be recognised, with letters that distinguish character sets in every word.
const RUSSIAN: &str = "Съешь же ещё этих мягких французских булок, да выпей чаю. Широкая электрификация южных губерний \
                       даст мощный толчок подъёму сельского хозяйства.";
const JAPANESE: &str = "いろはにほへと散りぬるを我が世誰ぞ常ならむ有為の奥山今日越えて浅き夢見じ酔ひもせず。これは日本語の文章です。";
const CHINESE: &str = "天地玄黄宇宙洪荒日月盈昃辰宿列张寒来暑往秋收冬藏闰余成岁律吕调阳云腾致雨露结为霜。这是一个中文句子。";
const TAIWANESE: &str = "天地玄黃宇宙洪荒日月盈昃辰宿列張寒來暑往秋收冬藏閏餘成歲律呂調陽雲騰致雨露結為霜。這是一個中文句子。";
const KOREAN: &str = "모든 인간은 태어날 때부터 자유로우며 그 존엄과 권리에 있어 동등하다. 인간은 천부적으로 이성과 양심을 부여받았다.";
const FRENCH: &str = "Voix ambiguë d’un cœur qui, au zéphyr, préfère les jattes de kiwis. Été où l’élève a été reçu à l’école.";

const SETS: [(&Encoding, &str); 8] = [
    (WINDOWS_1251, RUSSIAN),
    (KOI8_R, RUSSIAN),
    (SHIFT_JIS, JAPANESE),
    (ISO_2022_JP, JAPANESE),
    (GB18030, CHINESE),
    (BIG5, TAIWANESE),
    (EUC_KR, KOREAN),
    (WINDOWS_1252, FRENCH),
];

#[test]
fn the_character_set_is_taken_from_the_header_or_the_markup_or_guessed() {
    for (encoding, text) in SETS {
        let (bytes, _, lost) = encoding.encode(text);
        assert!(!lost);
        let name = encoding.name();
        let by_header = response(&format!("{OK_HTML}; charset={name}"), &bytes);
        assert_eq!(html_of(by_header), text, "{name} by header");

        let markup = format!("<meta charset={name}>");
        let by_markup = response(OK_HTML, &[markup.as_bytes(), &bytes].concat());
        assert_eq!(
            html_of(by_markup),
            format!("{markup}{text}"),
            "{name} by markup"
        );

        let guessed = response(OK_HTML, &bytes);
        assert_eq!(html_of(guessed), text, "{name} guessed");

        let both = response(
            &format!("{OK_HTML}; charset={name}"),
            &[b"<meta charset=utf-8>".as_slice(), &bytes].concat(),
        );
        assert_eq!(
            html_of(both),
            format!("<meta charset=utf-8>{text}"),
            "{name} by header"
        );

        // A wrong header. (Text with escape sequences is valid ASCII.)
        if encoding != ISO_2022_JP {
            let wrong = response(&format!("{OK_HTML}; charset=utf-8"), &bytes);
            assert_eq!(html_of(wrong), text, "{name} despite the header");
        }
    }
}

#[test]
fn utf8_is_recognised_without_a_declaration() {
    assert_eq!(html_of(response(OK_HTML, RUSSIAN.as_bytes())), RUSSIAN);
}

#[test]
fn a_byte_order_mark_overrides_all_declarations() {
    let little: Vec<u8> = "\u{feff}größe"
        .encode_utf16()
        .flat_map(u16::to_le_bytes)
        .collect();
    let big: Vec<u8> = "\u{feff}größe"
        .encode_utf16()
        .flat_map(u16::to_be_bytes)
        .collect();
    let eight = "\u{feff}größe".as_bytes();
    for bytes in [&little, &big, eight] {
        let said = response(&format!("{OK_HTML}; charset=windows-1251"), bytes);
        assert_eq!(html_of(said), "größe");
    }
}

#[test]
fn utf16_without_a_mark_is_recognised_by_its_zeros() {
    let little: Vec<u8> = "<p>Plain words"
        .encode_utf16()
        .flat_map(u16::to_le_bytes)
        .collect();
    let big: Vec<u8> = "<p>Plain words"
        .encode_utf16()
        .flat_map(u16::to_be_bytes)
        .collect();
    for bytes in [little, big] {
        assert_eq!(html_of(response(OK_HTML, &bytes)), "<p>Plain words");
    }
    let lie = response(&format!("{OK_HTML}; charset=utf-16"), b"<p>Plain words");
    assert_eq!(html_of(lie), "<p>Plain words");
}

#[test]
fn a_few_invalid_characters_are_replaced_and_many_are_rejected() {
    let few = response(
        &format!("{OK_HTML}; charset=utf-8"),
        b"<p>Some words and \xff some more, caf\xc3\xa9",
    );
    assert_eq!(html_of(few), "<p>Some words and \u{fffd} some more, café");
    let noise: Vec<u8> = (0..3_000_u32)
        .map(|at| 0x80 + (at * 7_919 % 128) as u8)
        .collect();
    let utf16 = [b"\xff\xfe".to_vec(), [0x00, 0xdc].repeat(500)].concat();
    assert_eq!(
        reject_of(response(OK_HTML, &utf16), &Settings::default()),
        Some(Reject::Undecodable)
    );
    // Random high bytes are valid in some single-byte character set.
    decoded(response(OK_HTML, &noise));
}

#[test]
fn every_reason_for_rejection_is_used() {
    let settings = Settings::default();
    let small = Settings {
        limits: Limits {
            max_page_bytes: 100,
            ..Limits::default()
        },
        ..Settings::default()
    };
    let generous = Settings {
        keep_status: true,
        ..Settings::default()
    };
    let gzipped = "HTTP/1.1 200 OK\nContent-Type: text/html\nContent-Encoding: gzip";
    let bomb = gzip(&vec![b'a'; 30 << 20]);
    for (what, record, settings, reject) in [
        ("a page", response(OK_HTML, b"<p>"), &settings, None),
        (
            "an error",
            response("HTTP/1.1 404 Not Found", b"<p>"),
            &settings,
            Some(Reject::Status),
        ),
        (
            "an error with keep_status",
            response("HTTP/1.1 404 Not Found", b"<p>"),
            &generous,
            None,
        ),
        (
            "no response",
            record(RecordBody::Http(b"<p>".to_vec())),
            &settings,
            Some(Reject::BadHttp),
        ),
        (
            "an image",
            response("HTTP/1.1 200 OK\nContent-Type: image/png", b"x"),
            &settings,
            Some(Reject::NotText),
        ),
        (
            "an image called a page",
            response(OK_HTML, b"\x89PNG\r\n\x1a\n"),
            &settings,
            Some(Reject::NotText),
        ),
        (
            "nothing",
            response(OK_HTML, b""),
            &settings,
            Some(Reject::Empty),
        ),
        (
            "spaces",
            response(OK_HTML, b" \r\n\xc2\xa0"),
            &settings,
            Some(Reject::Empty),
        ),
        (
            "a bomb",
            response(gzipped, &bomb),
            &settings,
            Some(Reject::TooLarge),
        ),
        (
            "a large page",
            response(gzipped, &gzip(&[b'a'; 1_000])),
            &small,
            Some(Reject::TooLarge),
        ),
        (
            "an unknown coding",
            response("HTTP/1.1 200 OK\nContent-Encoding: rot13", b"<p>"),
            &settings,
            Some(Reject::Undecodable),
        ),
        (
            "a coding damaged from the start",
            response(gzipped, &[&gzip(b"")[..10], &[0xff; 100]].concat()),
            &settings,
            Some(Reject::Undecodable),
        ),
    ] {
        assert_eq!(reject_of(record, settings), reject, "{what}");
    }
}

#[test]
fn content_codings_are_removed_even_if_their_names_are_wrong() {
    let page = "<p>Words, words, words. ".repeat(100);
    let zlib = {
        let mut encoder = ZlibEncoder::new(Vec::new(), Compression::default());
        encoder.write_all(page.as_bytes()).unwrap();
        encoder.finish().unwrap()
    };
    let bare = {
        let mut encoder = DeflateEncoder::new(Vec::new(), Compression::default());
        encoder.write_all(page.as_bytes()).unwrap();
        encoder.finish().unwrap()
    };
    let gzipped = gzip(page.as_bytes());
    let halves = [gzip(&page.as_bytes()[..999]), gzip(&page.as_bytes()[999..])].concat();
    let tailed = [gzipped.clone(), b"tail".to_vec()].concat();
    for (coding, body) in [
        ("gzip", &gzipped),
        ("x-gzip", &gzipped),
        ("GZIP", &gzipped),
        ("gzip", &halves),
        ("gzip", &tailed),
        ("gzip, gzip", &gzip(&gzipped)),
        ("deflate, gzip", &gzip(&zlib)),
        ("deflate", &zlib),
        ("deflate", &bare),
        ("identity", &page.clone().into_bytes()),
        // Crawlers remove a coding and keep its header.
        ("gzip", &page.clone().into_bytes()),
        ("deflate", &page.clone().into_bytes()),
    ] {
        let head = format!("{OK_HTML}\nContent-Encoding: {coding}");
        assert_eq!(html_of(response(&head, body)), page, "{coding}");
    }
}

#[test]
fn the_beginning_of_a_truncated_content_coding_is_kept() {
    let page = "<p>Words, words, words. ".repeat(1_000);
    let gzipped = gzip(page.as_bytes());
    let head = format!("{OK_HTML}\nContent-Encoding: gzip");
    let text = html_of(response(&head, &gzipped[..gzipped.len() - 20]));
    assert!(page.starts_with(&text) && text.len() > page.len() / 2);
}

#[test]
fn chunks_are_joined_even_if_their_lengths_are_wrong() {
    for (chunked, joined) in [
        ("4\r\n<p>W\r\n4\r\nords\r\n0\r\n\r\n", "<p>Words"),
        (
            "4;name=value\r\n<p>W\r\n4 \r\nords\r\n0\r\nTrailer: x\r\n\r\n",
            "<p>Words",
        ),
        ("004\n<p>W\n4\nords\n0\n", "<p>Words"),
        // Not chunked.
        ("<p>Words", "<p>Words"),
        ("", ""),
        // Truncated.
        ("4\r\n<p>W\r\nff\r\nords", "<p>Words"),
        ("4\r\n<p>W\r\n4\r\nords\r\n", "<p>Words"),
        // A chunk longer than its length.
        (
            "4\r\n<p>W\r\n2\r\nords\r\n0\r\n\r\n",
            "<p>Words\r\n0\r\n\r\n",
        ),
        ("ffffffffffffffffffff\r\n<p>", "ffffffffffffffffffff\r\n<p>"),
    ] {
        let mut body = chunked.as_bytes().to_vec();
        coding::dechunk(&mut body);
        assert_eq!(String::from_utf8(body).unwrap(), joined, "{chunked:?}");
    }
}

proptest! {
    #[test]
    fn chunks_are_joined_again(
        chunks in proptest::collection::vec(proptest::collection::vec(any::<u8>(), 1..50), 0..10)
    ) {
        let mut body = Vec::new();
        for chunk in &chunks {
            body.extend(format!("{:x}\r\n", chunk.len()).into_bytes());
            body.extend(chunk);
            body.extend(b"\r\n");
        }
        body.extend(b"0\r\n\r\n");
        prop_assert!(coding::dechunk(&mut body));
        prop_assert_eq!(body, chunks.concat());
    }

    #[test]
    fn decoding_never_fails_on_a_response(
        head in "(HTTP/1.1 200 OK)?[ -~\r\n]{0,80}((Content-Type|Content-Encoding|Transfer-Encoding): ?(text/html; charset=[a-z0-9-]{0,12}|gzip|deflate|chunked)\r\n){0,4}",
        body in proptest::collection::vec(any::<u8>(), 0..600),
        packed in any::<bool>(),
    ) {
        let body = if packed { gzip(&body) } else { body };
        let block = [head.as_bytes(), b"\r\n\r\n", &body].concat();
        let settings = Settings { keep_status: true, ..Settings::default() };
        let decoded = decode(record(RecordBody::Http(block)), &settings).unwrap();
        prop_assert_eq!(decoded.reject.is_some(), decoded.page.content == Content::None);
    }
}

#[test]
fn the_payload_is_digested_as_in_the_archive() {
    let head = format!("{OK_HTML}\nTransfer-Encoding: chunked");
    let stored = b"3\r\n<p>\r\n0\r\n\r\n";
    let digest = |bytes: &[u8]| -> [u8; 20] { Sha1::digest(bytes).into() };
    for (declared, expected, bytes) in [
        (Some(digest(stored)), digest(stored), stored.len() as u64),
        (Some(digest(b"<p>")), digest(b"<p>"), 3),
        (Some([0; 20]), digest(b"<p>"), 3),
        (None, digest(b"<p>"), 3),
    ] {
        let mut record = response(&head, stored);
        record.metadata.sha1 = declared;
        let page = decoded(record).page;
        assert_eq!(page.payload_sha1, Some(expected));
        assert_eq!(page.payload_bytes, bytes);
        assert_eq!(page.content, Content::Html("<p>".into()));
    }
    let coded = gzip(b"<p>");
    let page = decoded(response(
        &format!("{OK_HTML}\nContent-Encoding: gzip"),
        &coded,
    ))
    .page;
    assert_eq!(page.payload_sha1, Some(digest(&coded)));
}

#[test]
fn the_page_has_the_fields_of_the_response_head() {
    let page = decoded(response(
        "HTTP/2 203\nContent-Type: Text/HTML; charset=utf-8\nContent-Language: de-CH, fr",
        b"<p>",
    ))
    .page;
    assert_eq!(page.status, Some(203));
    assert_eq!(page.mime.as_deref(), Some("text/html"));
    assert_eq!(page.language.as_deref(), Some("de-CH"));
}

#[test]
fn utf8_text_is_not_copied() {
    let text = "Words. ".repeat(1_000);
    let bytes = text.into_bytes();
    let address = bytes.as_ptr();
    let mut record = record(RecordBody::Bytes(bytes));
    record.metadata.mime = Some("text/plain".into());
    match decoded(record).page.content {
        Content::Text(text) => assert_eq!(text.as_ptr(), address),
        other => panic!("{other:?}"),
    }
}

fn brotli(bytes: &[u8]) -> Vec<u8> {
    let mut coded = Vec::new();
    let parameters = brotli::enc::BrotliEncoderParams {
        quality: 5,
        ..Default::default()
    };
    brotli::BrotliCompress(&mut &bytes[..], &mut coded, &parameters).unwrap();
    coded
}

fn coded(coding: &str, bytes: &[u8]) -> Vec<u8> {
    match coding {
        "gzip" => gzip(bytes),
        "br" => brotli(bytes),
        "zstd" => zstd::encode_all(bytes, 3).unwrap(),
        "deflate" => {
            let mut encoder =
                flate2::write::ZlibEncoder::new(Vec::new(), flate2::Compression::default());
            std::io::Write::write_all(&mut encoder, bytes).unwrap();
            encoder.finish().unwrap()
        }
        _ => bytes.to_vec(),
    }
}

proptest! {
    #[test]
    fn any_sequence_of_codings_is_removed(
        body in proptest::collection::vec(any::<u8>(), 0..5_000),
        stack in proptest::collection::vec(
            proptest::sample::select(vec!["gzip", "br", "zstd", "deflate", "identity"]), 0..=8),
    ) {
        let sent = stack.iter().fold(body.clone(), |body, coding| coded(coding, &body));
        let stack: Vec<String> = stack.into_iter().map(str::to_owned).collect();
        let undone = super::coding::undo(sent, &stack, &Settings::default().limits).unwrap();
        prop_assert_eq!(undone, body);
    }

    #[test]
    fn random_bytes_with_a_coding_are_harmless(
        body in proptest::collection::vec(any::<u8>(), 0..2_000),
        coding in proptest::sample::select(vec!["gzip", "br", "zstd", "deflate"]),
        magic in any::<bool>(),
    ) {
        let body = if magic { [&[0x28, 0xb5, 0x2f, 0xfd][..], &body].concat() } else { body };
        let _ = super::coding::undo(body, &[coding.to_owned()], &Settings::default().limits);
    }
}

#[test]
fn the_beginning_of_a_truncated_br_or_zstd_page_is_kept() {
    let page: String = (0..20_000).map(|at| format!("<p>{}", at * 7_919)).collect();
    for coding in ["br", "zstd"] {
        let whole = coded(coding, page.as_bytes());
        let head = format!("{OK_HTML}\nContent-Encoding: {coding}");
        let text = html_of(response(&head, &whole[..whole.len() * 9 / 10]));
        assert!(
            text.len() > 1_000 && page.starts_with(text.trim_end_matches('\u{fffd}')),
            "{coding}"
        );
        let as_it_is = html_of(response(&head, page.as_bytes()));
        assert_eq!(as_it_is, page, "{coding}");
    }
}

#[test]
fn a_bomb_is_stopped_in_any_coding_and_any_sequence_of_codings() {
    let limits = Settings::default().limits;
    let large = vec![b'a'; 40 << 20];
    for stack in [
        &["br"][..],
        &["zstd"],
        &["deflate"],
        &["gzip", "br"],
        &["zstd", "gzip"],
    ] {
        let sent = stack
            .iter()
            .fold(large.clone(), |body, coding| coded(coding, &body));
        let stack: Vec<String> = stack.iter().map(|&coding| coding.to_owned()).collect();
        let rejected = super::coding::undo(sent, &stack, &limits).unwrap_err();
        assert_eq!(rejected.reason, Reject::TooLarge, "{stack:?}");
    }
    let nine = vec!["gzip".to_owned(); 9];
    let rejected = super::coding::undo(b"text".to_vec(), &nine, &limits).unwrap_err();
    assert_eq!(rejected.reason, Reject::Undecodable);
}
