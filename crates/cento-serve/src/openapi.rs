//! The description of the interface for programs, in OpenAPI 3.1.

#![expect(
    clippy::needless_pass_by_value,
    reason = "parts of the description are made where they are used"
)]

use axum::extract::Request;
use serde_json::{Map, Value, json};

use crate::lists::LISTS;
use crate::respond::{Served, tagged_json};

/// Serves the description.
pub(crate) async fn describe(request: Request) -> Served {
    Ok(tagged_json(&description(), request.headers()))
}

/// A response with JSON of a schema.
fn answer(about: &str, schema: &str) -> Value {
    json!({
        "description": about,
        "content": { "application/json": { "schema": { "$ref": format!("#/components/schemas/{schema}") } } }
    })
}

/// The responses of an operation: the given ones, and the errors that every operation has.
fn responses(given: Vec<(&str, Value)>, errors: &[&str]) -> Value {
    let mut all = Map::new();
    for (status, response) in given {
        all.insert(status.to_owned(), response);
    }
    let about = |status: &str| match status {
        "400" => "A parameter or the body is invalid.",
        "401" => "The token is missing or wrong.",
        "403" => "The request comes from another site.",
        "404" => "There is no such thing.",
        "408" => "The request was sent too slowly.",
        "409" => "The findings have changed since the first page.",
        "413" => "The body is too large.",
        "415" => "The body has another media type.",
        "421" => "The request names another server.",
        "500" => "The index could not be built, for the reason that is given.",
        "501" => "The server has no labels, or no index.",
        _ => "The server is busy.",
    };
    for status in ["401", "403", "421", "503"].iter().chain(errors) {
        all.insert((*status).to_owned(), answer(about(status), "Error"));
    }
    Value::Object(all)
}

fn get(id: &str, about: &str, parameters: Vec<Value>, given: Value, errors: &[&str]) -> Value {
    let not_modified = json!({ "description": "The reader has this content already." });
    json!({ "get": {
        "operationId": id,
        "summary": about,
        "parameters": parameters,
        "responses": responses(vec![("200", given), ("304", not_modified)], errors),
    } })
}

fn number(name: &str, place: &str, about: &str) -> Value {
    json!({
        "name": name, "in": place, "required": place == "path", "description": about,
        "schema": { "type": "integer", "minimum": 0 },
    })
}

fn required(mut parameter: Value) -> Value {
    parameter["required"] = true.into();
    parameter
}

fn text(name: &str, about: &str) -> Value {
    json!({ "name": name, "in": "query", "description": about, "schema": { "type": "string", "maxLength": 2000 } })
}

/// The parameters of a list.
fn list_parameters() -> Vec<Value> {
    let real = |name: &str, about: &str| json!({ "name": name, "in": "query", "description": about, "schema": { "type": "number" } });
    let day = |name: &str, about: &str| json!({ "name": name, "in": "query", "description": about, "schema": { "type": "string", "format": "date" } });
    let from_one = |name: &str, about: &str| json!({ "name": name, "in": "query", "description": about, "schema": { "type": "integer", "minimum": 1 } });
    let names: Vec<&str> = LISTS.iter().map(|list| list.name).collect();
    vec![
        json!({ "name": "name", "in": "path", "required": true, "description": "The name of a list.", "schema": { "type": "string", "enum": names } }),
        text("sort", "A column to sort by."),
        json!({ "name": "order", "in": "query", "description": "Needs sort.", "schema": { "type": "string", "enum": ["ascending", "descending"] } }),
        text(
            "host",
            "A host with its subdomains, or =host for the host alone.",
        ),
        text("other", "Another host: one page of the pair is on each."),
        real("min", "The least score."),
        real("max", "The greatest score."),
        text("category", "A category, if the list has categories."),
        day("from", "The first day, if the list has dates."),
        day("to", "The last day."),
        from_one("page", "The page, from 1."),
        from_one("size", "Rows of a page; at most 500."),
        text(
            "run",
            "The run of the first page, so that all pages are of one run.",
        ),
    ]
}

/// An operation that sends JSON.
fn post(
    id: &str,
    about: &str,
    parameters: Vec<Value>,
    body: Value,
    given: (&str, Value),
    errors: &[&str],
) -> Value {
    json!({ "post": {
        "operationId": id,
        "summary": about,
        "parameters": parameters,
        "requestBody": { "required": true, "content": body },
        "responses": responses(vec![given], errors),
    } })
}

fn object(properties: Value, required: &[&str]) -> Value {
    json!({ "type": "object", "properties": properties, "required": required })
}

fn closed(mut object: Value) -> Value {
    object["additionalProperties"] = false.into();
    object
}

fn json_body(schema: Value) -> Value {
    json!({ "application/json": { "schema": schema } })
}

fn lines(about: &str) -> Value {
    json!({
        "description": about,
        "content": { "application/x-ndjson": { "schema": { "type": "string" } } }
    })
}

fn schemas() -> Value {
    let count = json!({ "type": "integer", "minimum": 0 });
    let some_count = json!({ "type": ["integer", "null"], "minimum": 0 });
    let word = json!({ "type": "string" });
    let some_word = json!({ "type": ["string", "null"] });
    let any = json!({ "type": "object" });
    let array = |of: Value| json!({ "type": "array", "items": of });
    json!({
        "Error": object(json!({ "error": word }), &["error"]),
        "Lists": object(json!({
            "corpus": word,
            "lists": array(object(json!({
                "name": word, "title": word, "about": word, "rows": some_count, "run": some_word,
                "reason": some_word, "columns": array(word.clone()),
            }), &["name", "title", "about", "rows", "run", "reason", "columns"])),
        }), &["corpus", "lists"]),
        "ListPage": object(json!({
            "list": word, "run": word, "rows_in_list": count, "matching": count, "page": count,
            "pages": count, "size": count, "next": some_word,
            "rows": array(object(json!({ "key": word, "evidence": word }), &["key", "evidence"])),
        }), &["list", "run", "rows_in_list", "matching", "page", "pages", "size", "next", "rows"]),
        "Page": object(json!({
            "page": any, "findings": array(any.clone()), "text": some_word, "text_begin": count,
            "text_bytes": some_count,
        }), &["page", "findings", "text", "text_begin", "text_bytes"]),
        "Quilt": object(json!({ "page": any, "quilt": any }), &["page", "quilt"]),
        "Class": object(json!({
            "kept": any, "duplicates": array(any.clone()), "more": count,
        }), &["kept", "duplicates", "more"]),
        "Pair": object(json!({
            "a": any, "b": any, "about": array(word.clone()), "passages": array(any.clone()),
        }), &["a", "b", "about", "passages"]),
        "Passage": object(json!({
            "passage": any, "appearances": array(any.clone()), "more": count,
        }), &["passage", "appearances", "more"]),
        "Neighbourhoods": object(json!({
            "at": word, "nodes": array(any.clone()), "more": count,
        }), &["at", "nodes", "more"]),
        "Sessions": object(json!({ "sessions": array(any.clone()) }), &["sessions"]),
        "Started": object(json!({ "session": count }), &["session"]),
        "Session": object(json!({ "sample": any, "verdicts": array(any.clone()) }), &["sample", "verdicts"]),
        "Stored": object(json!({ "stored": { "type": "boolean" } }), &["stored"]),
        "Undone": object(json!({ "item": count }), &["item"]),
        "Statistics": object(json!({
            "precision": array(any.clone()), "agreement": array(any.clone()),
        }), &["precision", "agreement"]),
        "Answer": object(json!({
            "fingerprints": count, "ignored": count, "max_pages": count, "pages": count,
            "categories": array(any.clone()), "matches": array(any),
        }), &["fingerprints", "ignored", "max_pages", "pages", "categories", "matches"]),
        "Detected": object(json!({
            "chunks": count, "stopped": count, "matched": count,
            "contains": { "type": ["number", "null"], "minimum": 0, "maximum": 1 },
        }), &["chunks", "stopped", "matched", "contains"]),
    })
}

/// The whole description.
fn description() -> Value {
    let page_id = || number("page_id", "path", "The id of a page.");
    let session = || number("session", "path", "The number of a session.");
    let offset = || number("from", "query", "Where the text begins, in bytes.");
    let verdict = closed(object(
        json!({
            "judge": { "type": "string", "minLength": 1, "maxLength": 60 },
            "item": { "type": "integer", "minimum": 0, "maximum": u32::MAX },
            "verdict": { "type": "string", "enum": ["spam", "not-spam", "unsure"] },
            "note": { "type": "string", "maxLength": 2000 },
        }),
        &["judge", "item", "verdict"],
    ));
    let sample = closed(object(
        json!({
            "list": { "type": "string" },
            "size": { "type": "integer", "minimum": 1, "maximum": 1000 },
            "seed": { "type": "integer", "minimum": 0, "maximum": u64::MAX },
            "filter": { "type": "string" },
        }),
        &["list", "size", "seed"],
    ));
    let undo = closed(object(
        json!({ "judge": { "type": "string", "minLength": 1, "maxLength": 60 } }),
        &["judge"],
    ));
    let one = |name: &str| {
        closed(object(
            json!({ "url": {}, name: { "type": "string" } }),
            &[name],
        ))
    };
    let page = json!({ "oneOf": [one("text"), one("html")] });
    let detect_body = json!({
        "application/json": { "schema": page },
        "text/plain": { "schema": { "type": "string" } },
        "application/x-ndjson": { "schema": { "type": "string" } },
    });
    let mut detected = answer("The verdict, or a stream of verdicts.", "Detected");
    detected["content"]["application/x-ndjson"] = json!({ "schema": { "type": "string" } });
    let mut asked: Vec<Value> = vec![one("text"), one("html")];
    asked.push(closed(object(
        json!({ "page_id": { "type": "integer", "minimum": 0 } }),
        &["page_id"],
    )));
    for question in &mut asked {
        question["properties"]["top"] = json!({ "type": "integer", "minimum": 1, "maximum": 100 });
    }
    for question in asked.iter_mut().take(2) {
        if let Some(properties) = question["properties"].as_object_mut() {
            properties.remove("url");
        }
    }
    let url = closed(object(
        json!({ "url": { "type": "string" }, "top": { "type": "integer", "minimum": 1, "maximum": 100 } }),
        &["url"],
    ));
    asked.push(url);
    let question = json!({ "oneOf": asked });
    let body_errors = ["400", "404", "408", "413", "415"];
    json!({
        "openapi": "3.1.0",
        "info": {
            "title": "cento serve",
            "description": "The findings of a corpus, the verdicts of judges, and the detector of labels.",
            "version": env!("CARGO_PKG_VERSION"),
            "license": { "name": "MIT OR Apache-2.0", "identifier": "MIT OR Apache-2.0" },
        },
        "security": [{}, { "token": [] }],
        "paths": {
            "/api/lists": get("lists", "All lists.", vec![], answer("The lists.", "Lists"), &[]),
            "/api/lists/{name}": get("list", "One page of a list.", list_parameters(), answer("The rows.", "ListPage"), &["400", "404", "409"]),
            "/api/lists/{name}/rows": get("rows", "All rows that pass the filters, one JSON object per line.", list_parameters(), lines("The rows."), &["400", "404", "409"]),
            "/api/pages/{page_id}": get("page", "One page with its text and its findings.", vec![page_id(), offset()], answer("The page.", "Page"), &["400", "404"]),
            "/api/quilts/{page_id}": get("quilt", "The text of a quilt by source.", vec![page_id()], answer("The quilt.", "Quilt"), &["404"]),
            "/api/classes/{page_id}": get("class", "A kept page and its duplicates.", vec![page_id()], answer("The class.", "Class"), &["404"]),
            "/api/pairs": get("pair", "The passages that two pages share.", vec![required(number("a", "query", "A page.")), required(number("b", "query", "Another page."))], answer("The passages.", "Pair"), &["400", "404"]),
            "/api/passages/{cluster}": get("passage", "Where a passage appeared.", vec![number("cluster", "path", "The number of a cluster.")], answer("The appearances.", "Passage"), &["404"]),
            "/api/neighbourhoods": get("neighbourhoods", "Hosts and folders with labels.", vec![text("at", "A prefix; all hosts if it is empty.")], answer("The tree.", "Neighbourhoods"), &["404"]),
            "/api/sessions": {
                "get": {
                    "operationId": "sessions",
                    "summary": "All judging sessions.",
                    "responses": responses(vec![("200", answer("The sessions.", "Sessions"))], &[]),
                },
                "post": post("startSession", "Starts a session with a random sample of a list.", vec![], json_body(sample), ("201", answer("The session.", "Started")), &body_errors)["post"],
            },
            "/api/sessions/{session}": {
                "get": {
                    "operationId": "session",
                    "summary": "A session with its items and verdicts.",
                    "parameters": [session()],
                    "responses": responses(vec![("200", answer("The session.", "Session"))], &["404"]),
                },
            },
            "/api/sessions/{session}/verdicts": post("judge", "Stores a verdict. It is on the disk when the response is sent.", vec![session()], json_body(verdict), ("201", answer("Stored.", "Stored")), &body_errors),
            "/api/sessions/{session}/undo": post("undo", "Withdraws the last verdict of a judge.", vec![session()], json_body(undo), ("200", answer("The item.", "Undone")), &body_errors),
            "/api/verdicts": {
                "get": {
                    "operationId": "verdicts",
                    "summary": "Precision by list and parameters, and the agreement of judges.",
                    "responses": responses(vec![("200", answer("The statistics.", "Statistics"))], &[]),
                },
            },
            "/api/query": post("query", "The pages that share text with a text or with a page of the corpus.", vec![], json_body(question), ("200", answer("The pages.", "Answer")), &["400", "404", "408", "413", "415", "500", "501"]),
            "/api/detect": post("detect", "Compares a page, or a stream of pages, with the labels.", vec![], detect_body, ("200", detected), &["400", "408", "413", "415", "501"]),
        },
        "components": {
            "schemas": schemas(),
            "securitySchemes": { "token": { "type": "http", "scheme": "bearer" } },
        },
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_reference_of_the_description_leads_to_a_schema() {
        let description = description();
        let schemas = &description["components"]["schemas"];
        let text = description.to_string();
        let mut references = text.split("#/components/schemas/").skip(1).peekable();
        assert!(references.peek().is_some());
        for reference in references {
            let name = reference.split('"').next().unwrap_or_default();
            assert!(schemas.get(name).is_some(), "{name}");
        }
    }
}
