//! The sentences that the default value is made of.
//!
//! Its size is theirs: a change of one character is a change of [`JSON_BYTES`], which a test holds.
//!
//! [`JSON_BYTES`]: super::JSON_BYTES

/// Name, what it does.
pub(super) const FEATURES: &[(&str, &str)] = &[
    (
        "address-autocomplete",
        "Completes street and town from the first letters that are typed. Looks in the register of the country, and stays silent when it does not answer within a moment.",
    ),
    (
        "age-check",
        "Asks for the date of birth before spirits and knives are sold. The carrier asks again at the door, and takes the parcel back if the answer differs.",
    ),
    (
        "back-in-stock-mail",
        "Writes to customers who asked when a product can be bought again. One message for each product, in the order of asking, and never more than are in stock.",
    ),
    (
        "bulk-discounts",
        "Lowers the price of a line by its quantity. The steps come from the price breaks of the customer's group.",
    ),
    (
        "click-and-collect",
        "Lets customers pick their order up in a store. Orders wait there for a week and then go back into stock.",
    ),
    (
        "customs-estimate",
        "Shows duty and import tax before the order is placed. Needs the customs number of each product; without one the highest rate is shown.",
    ),
    (
        "delivery-slots",
        "Offers two-hour windows where the carrier has them. The window is kept for a quarter of an hour while the customer pays.",
    ),
    (
        "digital-goods",
        "Sells files, which are delivered by a link that expires. Nothing is shipped, and the right to return ends with the first download.",
    ),
    (
        "dynamic-shipping",
        "Takes rates from the carriers instead of the table. When a carrier does not answer, the table decides after all.",
    ),
    (
        "express-checkout",
        "Skips the cart for customers with a saved address and card. The bank may still ask for a confirmation on the phone.",
    ),
    (
        "fraud-score-v2",
        "Holds orders back by the second model; the first still runs beside it.",
    ),
    (
        "gift-cards",
        "Sells cards with a balance and takes them as payment. What is left stays on the card; several can be used for one order.",
    ),
    (
        "gift-wrapping",
        "Adds wrapping and a message to single lines of an order. The packing list shows the message, the invoice does not.",
    ),
    (
        "guest-checkout",
        "Takes orders without an account. The mail address is enough to find the order later on.",
    ),
    (
        "instalments",
        "Splits a payment in three, through the bank that the tenant chose.",
    ),
    (
        "invoice-payment",
        "Lets companies pay within thirty days. The limit of a new customer is low and grows with each invoice that is paid in time.",
    ),
    (
        "live-chat",
        "Opens a chat with the tenant's staff during their hours.",
    ),
    (
        "loyalty-points",
        "Collects points with every order and pays with them. Points that are older than two years expire at the end of the quarter.",
    ),
    (
        "multi-currency",
        "Shows prices in the customer's currency, by the rate of the day. The rate is frozen when the checkout starts, so that the total cannot move.",
    ),
    (
        "new-navigation",
        "Replaces the menu by the one that was tested in spring.",
    ),
    (
        "order-tracking",
        "Shows where the parcel is, on our own page.",
    ),
    (
        "passkeys",
        "Signs in without a password. The password stays valid until the customer removes it.",
    ),
    (
        "photo-reviews",
        "Takes up to four pictures with a review. Faces of children are hidden before anybody of us sees them.",
    ),
    (
        "price-alerts",
        "Writes when the price of a product falls below a mark.",
    ),
    (
        "product-bundles",
        "Sells several products together at one price. The discount is spread over the parts, as the tax office wants it.",
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
        "Proposes a size from earlier orders and returns. Says nothing when it knows fewer than three of them.",
    ),
    (
        "split-shipments",
        "Sends what is in stock first, at no extra cost. A third parcel is never made: what is left waits for the last product.",
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
        "Repeats an order every few weeks until it is cancelled. Customers may skip a delivery up to two days before it is packed.",
    ),
    (
        "tax-exemption",
        "Accepts the tax numbers of companies and charities. Numbers are checked at night, and again whenever the address changes.",
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
        "One page instead of three loses fewer customers on phones. On desktops we expect no difference, and stop if it gets worse there.",
    ),
    (
        "coupon-field-position",
        false,
        "A coupon field behind a link sends fewer people away to look for codes. Customers who come with a code in the link do not take part.",
    ),
    (
        "free-shipping-banner",
        false,
        "Naming the missing amount raises the order value more than naming the limit. Orders from abroad are left out, since their limit depends on the zone.",
    ),
    (
        "listing-grid-density",
        false,
        "More products in a row help those who know what they want and harm the others. The filter for widths below 600 pixels has to stay as it is.",
    ),
    (
        "review-summary",
        true,
        "A summary of reviews above the price answers the question that people scroll for. Products with fewer than ten reviews show none.",
    ),
    (
        "search-result-ranking",
        false,
        "Ranking by margin within equal relevance does not cost conversion. Returns are watched for six weeks more, because they come late.",
    ),
    (
        "signup-incentive",
        false,
        "Points convince more people to open an account than a voucher does. Both are worth the same two euro and end with the month.",
    ),
    (
        "stock-urgency-label",
        false,
        "Telling the true number in stock sells more than a label that says few are left. The number is never rounded, and hidden above twelve.",
    ),
];

/// Name, what its account manager wrote down.
pub(super) const TENANTS: &[(&str, &str)] = &[
    (
        "Arctic Outdoor",
        "Sale starts at midnight in Oslo. Warn the on-call team a day before. Last year the queue of mails took forty minutes to drain.",
    ),
    (
        "Birch Cycling",
        "Bicycles ship by freight, parts by parcel; two carriers in one order. Customers ask for the second parcel a lot, so show both numbers on the order page.",
    ),
    (
        "Bramble Garden",
        "Plants are not sent during frost. The tenant sets the dates itself. Orders are held until then, and the customer may cancel them at any time.",
    ),
    (
        "Copper Kettle",
        "Moved from another platform in spring; old links are redirected. Reviews came along without their pictures, which the tenant wants to add by hand.",
    ),
    (
        "Elm Street Music",
        "Sells downloads too, which have another tax rate. Scores for whole orchestras are invoiced by their own office in Leipzig.",
    ),
    (
        "Fjord Knitwear",
        "Photos are large; the picture service has a higher limit for them. Never lower it without a call: their catalogue for the winter was cut off once.",
    ),
    (
        "Granite Climbing",
        "Ropes carry a serial number that is kept with the order. In a recall we need the list of buyers within the hour.",
    ),
    (
        "Harbour Coffee",
        "Most orders are subscriptions, packed on Mondays. Do not deploy the subscription service on Sunday evenings.",
    ),
    (
        "Iron Gate Tools",
        "Companies buy on account, up to a limit per customer. The limit is raised by their accountant only, never by our support.",
    ),
    (
        "Juniper Spices",
        "Lots can be recalled: the lot number is in each order line. The export for the authorities has to be ready on the same day.",
    ),
    (
        "Lark Instruments",
        "Takes used instruments in payment, valued by hand. An offer stands for two weeks, then the customer has to send new pictures.",
    ),
    (
        "Mint Eyewear",
        "Asks for a prescription, which is kept encrypted. Support cannot read it; an optician of the tenant can, with a second key.",
    ),
    (
        "North Pier Fish",
        "Orders close at noon for delivery the next morning. A late deployment before noon costs them a day of sales.",
    ),
    (
        "Olive Press",
        "Harvest is sold in advance, from September on. Nothing may be promised before the first pressing.",
    ),
];

/// When, by whom, why.
pub(super) const HISTORY: &[&str] = &[
    "2026-08-31T09:12:44Z k.lindqvist: Raised the burst of the search routes before the autumn sale.",
    "2026-08-19T15:40:02Z deploy-bot: Ended the review summary experiment; its treatment is now the default for everyone.",
    "2026-07-28T07:55:31Z m.okafor: Moved a tenth of the traffic from the northern to the central region after the upgrade.",
    "2026-07-02T12:20:15Z s.tanaka: Closed the Classic plan to new shops. Shops that have it keep its price until they choose another.",
    "2026-06-11T18:03:57Z a.moreau: Longer timeout for payments: the bank behind instalments needs seven seconds.",
    "2026-05-23T10:41:20Z deploy-bot: Removed five flags that had expired; their features are on for every tenant.",
    "2026-05-04T06:30:09Z k.lindqvist: Added Hebrew and Arabic, with texts in English where a translation is missing.",
];
