//! oha's own `main` without its shell completions: what it does is in the library, which Cargo.lock pins.

use std::process::ExitCode;

use clap::Parser;

fn main() -> ExitCode {
    let options = oha::Opts::parse();
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(options.worker_threads.get())
        .enable_all()
        .build();
    let done = match runtime {
        Ok(runtime) => runtime.block_on(oha::run(options)).map_err(|error| error.to_string()),
        Err(error) => Err(error.to_string()),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("oha: {error}");
            ExitCode::FAILURE
        }
    }
}
