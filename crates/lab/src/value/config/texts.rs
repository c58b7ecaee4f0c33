//! The sentences that the default value is made of.
//!
//! Its size is theirs: a change of one character is a change of [`JSON_BYTES`], which a test holds.
//!
//! [`JSON_BYTES`]: super::JSON_BYTES

/// Name, what it does.
pub(super) const FEATURES: &[(&str, &str)] = &[
    (
        "address-autocomplete",
        "Completes street and town from the first letters that are typed.",
    ),
    (
        "age-check",
        "Asks for the date of birth before spirits and knives are sold.",
    ),
    (
        "back-in-stock-mail",
        "Writes to customers who asked when a product can be bought again.",
    ),
    (
        "bulk-discounts",
        "Lowers the price of a line by its quantity.",
    ),
    (
        "click-and-collect",
        "Lets customers pick their order up in a store.",
    ),
    (
        "customs-estimate",
        "Shows duty and import tax before the order is placed.",
    ),
    (
        "delivery-slots",
        "Offers two-hour windows where the carrier has them.",
    ),
    (
        "digital-goods",
        "Sells files, which are delivered by a link that expires.",
    ),
    (
        "dynamic-shipping",
        "Takes rates from the carriers instead of the table.",
    ),
    (
        "express-checkout",
        "Skips the cart for customers with a saved address and card.",
    ),
    (
        "fraud-score-v2",
        "Holds orders back by the second model; the first still runs beside it.",
    ),
    (
        "gift-cards",
        "Sells cards with a balance and takes them as payment.",
    ),
    (
        "gift-wrapping",
        "Adds wrapping and a message to single lines of an order.",
    ),
    ("guest-checkout", "Takes orders without an account."),
    (
        "instalments",
        "Splits a payment in three, through the bank that the tenant chose.",
    ),
    ("invoice-payment", "Lets companies pay within thirty days."),
    (
        "live-chat",
        "Opens a chat with the tenant's staff during their hours.",
    ),
    (
        "loyalty-points",
        "Collects points with every order and pays with them.",
    ),
    (
        "multi-currency",
        "Shows prices in the customer's currency, by the rate of the day.",
    ),
    (
        "new-navigation",
        "Replaces the menu by the one that was tested in spring.",
    ),
    (
        "order-tracking",
        "Shows where the parcel is, on our own page.",
    ),
    ("passkeys", "Signs in without a password."),
    ("photo-reviews", "Takes up to four pictures with a review."),
    (
        "price-alerts",
        "Writes when the price of a product falls below a mark.",
    ),
    (
        "product-bundles",
        "Sells several products together at one price.",
    ),
    (
        "returns-portal",
        "Prints return labels and shows the state of the refund.",
    ),
    (
        "shop-the-look",
        "Links the products that are seen in a picture.",
    ),
    (
        "size-advisor",
        "Proposes a size from earlier orders and returns.",
    ),
    (
        "split-shipments",
        "Sends what is in stock first, at no extra cost.",
    ),
    (
        "store-credit",
        "Pays refunds as credit if the customer prefers it.",
    ),
    (
        "store-pickup-map",
        "Shows stores on a map instead of a list.",
    ),
    (
        "subscriptions",
        "Repeats an order every few weeks until it is cancelled.",
    ),
    (
        "tax-exemption",
        "Accepts the tax numbers of companies and charities.",
    ),
    ("typo-tolerance", "Searches with one letter wrong in five."),
    (
        "vector-ranking",
        "Ranks results by meaning where words find fewer than ten.",
    ),
    ("wishlist-sync", "Keeps one wish list over all devices."),
];

/// Name, whether it has ended, what is expected.
pub(super) const EXPERIMENTS: &[(&str, bool, &str)] = &[
    (
        "checkout-one-page",
        true,
        "One page instead of three loses fewer customers on phones.",
    ),
    (
        "coupon-field-position",
        false,
        "A coupon field behind a link sends fewer people away to look for codes.",
    ),
    (
        "free-shipping-banner",
        false,
        "Naming the missing amount raises the order value more than naming the limit.",
    ),
    (
        "listing-grid-density",
        false,
        "More products in a row help those who know what they want and harm the others.",
    ),
    (
        "review-summary",
        true,
        "A summary of reviews above the price answers the question that people scroll for.",
    ),
    (
        "search-result-ranking",
        false,
        "Ranking by margin within equal relevance does not cost conversion.",
    ),
    (
        "signup-incentive",
        false,
        "Points convince more people to open an account than a voucher does.",
    ),
    (
        "stock-urgency-label",
        false,
        "Telling the true number in stock sells more than a label that says few are left.",
    ),
];

/// Name, what its account manager wrote down.
pub(super) const TENANTS: &[(&str, &str)] = &[
    (
        "Arctic Outdoor",
        "Sale starts at midnight in Oslo. Warn the on-call team a day before.",
    ),
    (
        "Birch Cycling",
        "Bicycles ship by freight, parts by parcel; two carriers in one order.",
    ),
    (
        "Bramble Garden",
        "Plants are not sent during frost. The tenant sets the dates itself.",
    ),
    (
        "Copper Kettle",
        "Moved from another platform in spring; old links are redirected.",
    ),
    (
        "Elm Street Music",
        "Sells downloads too, which have another tax rate.",
    ),
    (
        "Fjord Knitwear",
        "Photos are large; the picture service has a higher limit for them.",
    ),
    (
        "Granite Climbing",
        "Ropes carry a serial number that is kept with the order.",
    ),
    (
        "Harbour Coffee",
        "Most orders are subscriptions, packed on Mondays.",
    ),
    (
        "Iron Gate Tools",
        "Companies buy on account, up to a limit per customer.",
    ),
    (
        "Juniper Spices",
        "Lots can be recalled: the lot number is in each order line.",
    ),
    (
        "Lark Instruments",
        "Takes used instruments in payment, valued by hand.",
    ),
    (
        "Mint Eyewear",
        "Asks for a prescription, which is kept encrypted.",
    ),
    (
        "North Pier Fish",
        "Orders close at noon for delivery the next morning.",
    ),
    (
        "Olive Press",
        "Harvest is sold in advance, from September on. Nothing may be promised before the first pressing.",
    ),
];

/// When, by whom, why.
pub(super) const HISTORY: &[(&str, &str, &str)] = &[
    (
        "2026-08-31T09:12:44Z",
        "k.lindqvist",
        "Raised the burst of the search routes before the autumn sale.",
    ),
    (
        "2026-08-19T15:40:02Z",
        "deploy-bot",
        "Ended the review summary experiment; its treatment is now the default for everyone.",
    ),
    (
        "2026-07-28T07:55:31Z",
        "m.okafor",
        "Moved a tenth of the traffic from the northern to the central region after the upgrade.",
    ),
    (
        "2026-07-02T12:20:15Z",
        "s.tanaka",
        "Closed the Classic plan to new shops. Shops that have it keep its price.",
    ),
    (
        "2026-06-11T18:03:57Z",
        "a.moreau",
        "Longer timeout for payments: the bank behind instalments needs seven seconds.",
    ),
    (
        "2026-05-23T10:41:20Z",
        "deploy-bot",
        "Removed five flags that had expired; their features are on for every tenant.",
    ),
    (
        "2026-05-04T06:30:09Z",
        "k.lindqvist",
        "Added Hebrew and Arabic, with texts in English where a translation is missing.",
    ),
];
