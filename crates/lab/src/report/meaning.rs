//! What the figures mean, in plain words: what the store path costs a minute and a day, and what a
//! copy in memory saves. It says only what was measured, also when the copy saves nothing.

use super::document::Block;
use super::quantity::{cores, count, decimal, many, mib, percent, rate, size, times};
use crate::results::cost::{CostResult, Path, Summary};

pub(super) fn blocks(result: &CostResult) -> Vec<Block> {
    let heading = Block::Heading("What this means".to_owned());
    let Some(summary) = &result.summary else {
        let missing = "No conclusion: it takes both rows at the given rate, from the store and \
                       from memory.";
        return vec![heading, Block::Paragraph(missing.to_owned())];
    };
    let readers = match summary.instances {
        1 => "One process that reads".to_owned(),
        instances => format!("{} processes that together read", count(instances)),
    };
    let mut blocks = vec![
        heading,
        Block::Paragraph(format!(
            "{readers} the value {} times a second from the store:",
            rate(summary.reads_per_s)
        )),
        Block::List(costs(result, summary)),
        Block::Paragraph("With a copy in memory instead:".to_owned()),
        Block::List(savings(result, summary)),
    ];
    blocks.extend(caveats(result, summary).into_iter().map(Block::Note));
    blocks
}

fn costs(result: &CostResult, summary: &Summary) -> Vec<String> {
    let unchanged = match result.config.change_every_s {
        None => ", of a value that did not change",
        Some(_) => "",
    };
    let core_hours = decimal(summary.store_core_hours_per_day, 1);
    let client = cores(summary.store_client_cores);
    let mut costs = vec![
        format!(
            "{} MiB moved a minute, {} GiB a day{unchanged};",
            mib(summary.store_mib_per_min),
            decimal(summary.store_gib_per_day, 1),
        ),
        match summary.store_server_cores {
            Some(server) => format!(
                "{client} busy in the client and {} in the server: {core_hours} core-hours a day;",
                cores(server)
            ),
            None => format!(
                "{client} busy in the client: {core_hours} core-hours a day, not counting the \
                 server, whose CPU could not be read;"
            ),
        },
    ];
    let decode = percent(summary.store_decode_share_of_wall);
    costs.push(match summary.instances {
        1 => format!("{decode} of its time spent decoding."),
        _ => format!("{decode} of the time of each spent decoding."),
    });
    costs
}

fn savings(result: &CostResult, summary: &Summary) -> Vec<String> {
    // Less than keeping the schedule varies by from row to row.
    let instead = if summary.memory_client_cores > 0.0 {
        cores(summary.memory_client_cores)
    } else {
        "too little CPU to measure".to_owned()
    };
    let server_known = [Path::Store, Path::Memory].map(|path| {
        let row = result.row_at_rate(path);
        row.is_some_and(|row| row.server_cpu.is_some())
    });
    let both = if server_known == [true, true] {
        "client and server together"
    } else {
        "client only"
    };
    let mut savings = vec![if summary.saved_cores > 0.0 {
        format!(
            "reading takes {instead} in the client: {} saved ({both}), {} core-hours a day;",
            cores(summary.saved_cores),
            decimal(summary.saved_core_hours_per_day, 1)
        )
    } else {
        format!(
            "no CPU is saved here: reading takes {instead} in the client, and the sum ({both}) \
             is {} higher;",
            cores(-summary.saved_cores)
        )
    }];
    if let Some(saved) = summary.saved_allocations_per_min {
        savings.push(if saved >= 0.0 {
            format!("{} allocations a minute saved;", many(saved))
        } else {
            format!("{} allocations a minute more;", many(-saved))
        });
    }
    if let Some(saved) = summary.saved_resident_bytes {
        let bytes = size(saved.unsigned_abs() as f64);
        savings.push(match saved {
            0 => "the process held as much memory at its end;".to_owned(),
            1.. => format!("the process held {bytes} less at its end;"),
            _ => format!("the process held {bytes} more at its end;"),
        });
    }
    if let Some(ratio) = summary.full_load_ratio {
        savings.push(format!(
            "at full load {} as many reads a second.",
            times(ratio)
        ));
    }
    if let Some(last) = savings.last_mut()
        && last.ends_with(';')
    {
        last.pop();
        last.push('.');
    }
    savings
}

fn caveats(result: &CostResult, summary: &Summary) -> Vec<String> {
    let mut caveats = Vec::new();
    let kept = [Path::Store, Path::Memory].map(|path| {
        let schedule = result.row_at_rate(path)?.schedule.as_ref()?;
        Some(schedule.kept)
    });
    if kept.contains(&Some(false)) {
        caveats.push(
            "The rate was not kept: the costs are those of the reads that were reached, not of \
             those asked for."
                .to_owned(),
        );
    }
    let subtracted = result
        .row_at_rate(Path::Store)
        .is_some_and(|row| row.client_cpu.pacing_share_of_core.is_some());
    if subtracted {
        caveats.push("CPU of clients is without what keeping the schedule takes.".to_owned());
    }
    if summary.instances > 1 {
        caveats.push(format!(
            "One process was measured and multiplied by {}; that many at once were not.",
            count(summary.instances)
        ));
    }
    if result.server.local {
        caveats.push(
            "Client and server shared this machine: no network was measured, and both competed \
             for its cores."
                .to_owned(),
        );
    }
    caveats
}
