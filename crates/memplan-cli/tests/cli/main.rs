//! The command as users meet it: the built program, its streams, its exit codes.
//!
//! Snapshots are the exact words; `INSTA_UPDATE=always MEMPLAN_BLESS=1` rewrites them, and the
//! generated documents, after a deliberate change.

#![allow(clippy::unwrap_used, reason = "a test that cannot set the stage has failed")]

mod book;
mod browser;
mod commands;
mod compare;
mod costs;
mod diagnostics;
mod documents;
mod dump;
mod fit;
mod fit_naive;
mod fit_onnx;
mod five_documents;
mod generated;
mod gmem;
mod header;
mod help;
mod instructions;
mod limits;
mod mistakes;
mod models;
mod npu;
mod opt;
mod outputs;
mod plan;
mod program;
mod reader;
mod run;
mod search;
mod show;
mod tensors;
mod translations;
mod tvmscript;
mod verify;
