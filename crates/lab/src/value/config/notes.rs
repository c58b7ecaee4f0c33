//! The longer notes in the default value: help for shop owners, and hints for whoever is on call.

/// Shown to shop owners beside the settings.
pub(super) const HELP: &[&str] = &[
    "A domain takes up to a day to work everywhere. Until then your shop can be reached under its address at shop.example.",
    "Prices are entered with tax. Customers in countries with another rate see the price that leaves you the same amount.",
    "Products without a weight are sent at the rate of the lightest parcel; set one before you offer them abroad.",
    "Stock is reserved when a product is put into a cart and freed after twenty minutes without an order.",
    "A discount code may be limited to a date, to a number of uses or to one use by each customer.",
    "Refunds go back to the card that was charged. For a card that has expired the bank finds the account by itself.",
    "Pictures should be at least 1,600 pixels wide. We make the smaller sizes and keep your original.",
    "Webhooks are sent up to twelve times within a day, each time after a longer pause. Answer with any status from 200 to 299.",
    "Staff with the role Packing see addresses and lines of orders, but no prices and no mail addresses.",
    "A shop that is paused shows a page with your message. Its products keep their places in search engines for about two weeks.",
    "Reviews cannot be edited, only hidden. A hidden review does not count in the average, and its author is told why.",
    "Exports are made at night in the time zone of the shop. The file is kept for thirty days, then it is deleted.",
    "Shipping zones are read from top to bottom: the first that holds the country and the postcode decides.",
    "The tax report follows the date of the invoice, not of the order. Orders from the last day of a month may be in the next.",
    "A translation that is missing is shown in the fallback language; the list of missing texts is under Languages.",
    "Customers may delete their account. Orders stay for the years that the law asks for, without name and address.",
    "Gift cards are a debt until they are used: the ledger report lists what is still open, by year of sale.",
    "A bundle is out of stock when one of its parts is. The parts can be sold alone at the same time.",
];

/// For whoever is on call.
pub(super) const ON_CALL_NOTES: &[&str] = &[
    "Checkout errors above 2 %: look at https://status.storefront.example/payments first; nine times in ten it is the bank.",
    "Search slow but not down: switch vector-ranking off. Results get a little worse, and the queue drains in a minute.",
    "Carts lost after a deployment: the session nodes were restarted together. Roll one zone at a time, never two.",
    "Mail queue older than ten minutes: check the bounce rate before you raise the workers, or the provider blocks us.",
    "Stock below zero in one shop: its import ran twice. Stop the import, then run the recount for that tenant alone.",
    "A tenant over its rate limit asks by phone: double requests_per_s for a day, write down when it ends, tell its manager.",
    "Failover of a region: lower its weight to zero, wait for five minutes, then move the primary. Never the other way round.",
    "Certificates renew by themselves thirty days ahead. An alert at fourteen days means that a tenant moved its domain.",
    "Pictures missing in one region only: purge the edge by tag, not by address; the runbook has the command.",
    "Coupon service down: carts go on without coupons and say so. Page the pricing team only during their hours.",
    "Webhook backlog of a single provider: pause the provider. Orders are safe, they are read again from its interface.",
    "Fraud score times out: orders are held, not refused. Tell support before the held list passes two hundred.",
    "Price import from the old system ends at 05:40. Prices that look wrong before that are usually yesterday's.",
    "Login failures from one network: block it at the edge for an hour. Passkeys are not affected, so keep that path open.",
    "Invoice numbers must have no gaps. If the counter stops, stop the checkout as well, and call accounting in the morning.",
    "Database replica behind by more than a minute: account pages read the primary by themselves; watch its connections.",
    "The autumn sale starts on a Thursday at 18:00. Freeze deployments from noon, and have two people on call.",
    "Recommendations are allowed to be empty. Nobody has to get up at night for these.",
];
