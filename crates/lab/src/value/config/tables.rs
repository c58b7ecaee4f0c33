//! The tables of the default value: what a shop looks up by number, such as rates and hours.

use serde::{Deserialize, Serialize};

/// What is looked up by number.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Tables {
    /// What parcels cost.
    pub shipping: Shipping,
    /// Percent of tax, standard and reduced in turns, by country in the order of their codes.
    pub tax_percent: Vec<f64>,
    /// Products, orders a month, staff, stores, exports and webhooks by plan; `None` is unlimited.
    pub quotas_by_plan: Vec<Vec<Option<u32>>>,
    /// Pauses before the attempts of a webhook.
    pub webhook_pauses_s: Vec<u32>,
    /// Smallest quantity and percent off, in turns, by customer group.
    pub price_breaks: Vec<Vec<f64>>,
    /// Servers wanted by hour: on working days, on Saturdays and on Sundays.
    pub servers_by_hour: Vec<Vec<u32>>,
    /// Opening and closing of the stores in minutes since midnight, from Monday on, a store a row.
    pub store_hours_min: Vec<Vec<Option<u32>>>,
    /// Of the sizes in which pictures are kept.
    pub picture_widths_px: Vec<u32>,
}

/// What parcels cost.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Shipping {
    /// Heaviest parcel of each weight class.
    pub classes_g: Vec<u32>,
    /// Euro by zone and weight class; the nearest zone comes first.
    pub rates_eur: Vec<Vec<f64>>,
    /// Working days by zone, fewest and most.
    pub days: Vec<[u32; 2]>,
    /// Smallest order in euro that is sent for nothing, by zone.
    pub free_from_eur: Vec<Option<f64>>,
}

const CLASSES_G: [u32; 12] = [
    250, 500, 1_000, 2_000, 3_000, 5_000, 7_500, 10_000, 15_000, 20_000, 25_000, 31_500,
];

/// Cents for the lightest parcel and for each further kilogram, days, euro for free shipping.
const ZONES: [(u32, u32, [u32; 2], Option<u32>); 11] = [
    (389, 31, [1, 2], Some(49)),
    (449, 38, [1, 2], Some(59)),
    (529, 47, [2, 3], Some(79)),
    (615, 62, [2, 4], Some(89)),
    (749, 84, [3, 5], Some(99)),
    (890, 118, [3, 6], Some(129)),
    (1_095, 165, [4, 7], Some(149)),
    (1_349, 243, [5, 9], Some(199)),
    (1_690, 388, [6, 11], None),
    (1_985, 512, [7, 14], None),
    (2_450, 745, [9, 21], None),
];

/// All tables.
pub(super) fn tables() -> Tables {
    Tables {
        shipping: shipping(),
        tax_percent: vec![
            20.0, 10.0, 21.0, 12.0, 8.1, 2.6, 21.0, 12.0, 19.0, 7.0, 25.0, 25.0, 21.0, 10.0, 20.0,
            5.5, 20.0, 5.0, 22.0, 10.0, 10.0, 8.0, 21.0, 9.0, 23.0, 8.0, 25.0, 12.0,
        ],
        quotas_by_plan: quotas_by_plan(),
        webhook_pauses_s: vec![
            5, 15, 45, 120, 300, 600, 1_200, 2_700, 5_400, 10_800, 21_600, 43_200,
        ],
        price_breaks: [3, 5, 8, 12].map(price_breaks).into(),
        servers_by_hour: [100, 112, 138].map(servers_by_hour).into(),
        store_hours_min: STORES.map(store_hours_min).into(),
        picture_widths_px: vec![80, 160, 240, 320, 480, 640, 800, 960, 1_280, 1_600, 2_400],
    }
}

fn cents(cents: u32) -> f64 {
    // The division rounds to the double that prints with two decimals.
    f64::from(cents) / 100.0
}

fn shipping() -> Shipping {
    let rates = |&(first, each_kg, ..): &(u32, u32, [u32; 2], Option<u32>)| {
        CLASSES_G
            .map(|class_g| cents(first + each_kg * (class_g - CLASSES_G[0]) / 1_000))
            .into()
    };
    Shipping {
        classes_g: CLASSES_G.into(),
        rates_eur: ZONES.iter().map(rates).collect(),
        days: ZONES.iter().map(|zone| zone.2).collect(),
        free_from_eur: ZONES.iter().map(|zone| zone.3.map(f64::from)).collect(),
    }
}

fn quotas_by_plan() -> Vec<Vec<Option<u32>>> {
    let limits = |growth: u32| {
        [250, 400, 2, 1, 3, 5]
            .map(|first| Some(first * growth))
            .into()
    };
    let mut quotas: Vec<Vec<_>> = [1, 3, 10, 60].map(limits).into();
    quotas.push(vec![None, None, None, None, Some(500), Some(1_000)]);
    quotas
}

/// Quantities that customers ask for, and what they save in a group that gets `percent` at first.
fn price_breaks(percent: u32) -> Vec<f64> {
    [(5, 10), (10, 16), (25, 21), (50, 27), (100, 33), (250, 38)]
        .into_iter()
        .flat_map(|(quantity, tenths)| [f64::from(quantity), f64::from(percent * tenths) / 10.0])
        .collect()
}

/// The usual curve of a day, at `percent` of a working day.
fn servers_by_hour(percent: u32) -> Vec<u32> {
    [
        14, 10, 8, 6, 6, 7, 12, 21, 30, 36, 40, 43, 46, 42, 39, 40, 44, 52, 63, 74, 78, 66, 44, 25,
    ]
    .map(|servers| servers * percent / 100)
    .into()
}

/// Opening, closing from Monday to Friday, closing on Saturday; some close on Mondays.
const STORES: [(u32, u32, u32, bool); 6] = [
    (540, 1_140, 1_080, false),
    (570, 1_170, 1_080, false),
    (600, 1_200, 1_200, false),
    (600, 1_140, 960, true),
    (555, 1_110, 840, false),
    (600, 1_260, 1_260, false),
];

fn store_hours_min(
    (opens, closes, closes_early, free_monday): (u32, u32, u32, bool),
) -> Vec<Option<u32>> {
    let mut hours = [Some(opens), Some(closes)].repeat(5);
    if free_monday {
        hours[..2].fill(None);
    }
    hours.extend([Some(opens), Some(closes_early)]);
    hours
}
