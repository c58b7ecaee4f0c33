//! What customers of the shop are told: the longest texts of the default value.

/// Name, template.
pub(super) const MESSAGES: &[(&str, &str)] = &[
    (
        "account_created",
        "Welcome, {name}. Your account at {shop} is ready; confirm your address with the link that we sent to {mail}.",
    ),
    (
        "address_changed",
        "The address of order {number} is now {address}. If it was not you who changed it, answer this message.",
    ),
    (
        "age_required",
        "Before we can sell you this product we have to know that you are of age. It takes a minute and is asked once.",
    ),
    (
        "back_in_stock",
        "{product} can be bought again at {shop}. We keep none aside, so do not wait too long. This was the only message about it, and your address is deleted from the list.",
    ),
    (
        "basket_expires",
        "Your cart at {shop} is kept until {date}. After that we cannot promise the price of what is in it. Sign in to keep it longer, or send it to yourself by mail.",
    ),
    (
        "card_declined",
        "Your bank did not accept the payment of {amount}. Nothing was charged. Try another card or another way to pay. Your cart is kept, and the products in it stay reserved for twenty minutes.",
    ),
    (
        "card_expires",
        "The card that ends in {digits} expires this month. Add a new one so that your subscription goes on. Until then we keep what is due and charge nothing twice.",
    ),
    (
        "chat_closed",
        "Nobody is here to chat right now. We are back at {time}; leave a message and we answer by mail. Most questions about parcels are answered on the page of your order.",
    ),
    (
        "coupon_expired",
        "The coupon {code} was valid until {date}. There may be a newer one in your last message from us. Only one code can be used for an order, gift cards not counted.",
    ),
    (
        "coupon_minimum",
        "The coupon {code} is for orders of {amount} or more. You are {missing} away from it. Shipping and gift cards do not count, products at a lower price do.",
    ),
    (
        "customs_notice",
        "{amount} of duty and import tax are due for this order. They are in the total: nothing is left to pay at the door.",
    ),
    (
        "delivery_delayed",
        "Order {number} is late: the carrier now expects it on {date}. You may cancel it until it is handed over.",
    ),
    (
        "delivery_today",
        "Order {number} arrives today between {from} and {to}. Somebody has to be there to sign for it. A neighbour will do if you say so before {from} on the page of your order.",
    ),
    (
        "download_ready",
        "Your files are ready. The link works for seven days and five downloads; you find it in your account as well.",
    ),
    (
        "gift_card_sent",
        "Your gift card of {amount} is on its way to {mail}. It has no end date and may be used in parts. If it does not arrive within an hour, look where unwanted mail goes.",
    ),
    (
        "invoice_due",
        "Invoice {number} over {amount} is due on {date}. Please give the number with your transfer. The invoice is attached, and a copy is in your account.",
    ),
    (
        "invoice_reminder",
        "We have not seen a payment for invoice {number} yet. If it crossed with this message, please excuse it.",
    ),
    (
        "login_new_device",
        "Somebody signed in to your account from {place} with {device}. If it was you there is nothing to do. If not, choose a new password now: that ends all other visits.",
    ),
    (
        "order_cancelled",
        "Order {number} was cancelled. {amount} go back the way they came; that takes three to five working days.",
    ),
    (
        "order_confirmed",
        "Thank you, {name}. We have your order {number} over {amount} and write again when it leaves the house.",
    ),
    (
        "order_shipped",
        "Order {number} left our house today with {carrier}. Follow it with the link below; the first scan may take a day.",
    ),
    (
        "out_of_stock",
        "{product} is sold out. Leave your address and we write to you when it is back, once and for nothing else.",
    ),
    (
        "passkey_added",
        "A passkey was added to your account on {date}. You can sign in with it on all your devices from now on.",
    ),
    (
        "password_reset",
        "Use the link within an hour to choose a new password. If you did not ask for it, your old one stays as it is.",
    ),
    (
        "pickup_ready",
        "Order {number} waits for you at {store} until {date}. Bring the code {code}; a picture of it is enough.",
    ),
    (
        "points_earned",
        "This order brought you {points} points. You have {total} now, worth {amount} on your next one. They can be used from the day on which the right to return this order ends.",
    ),
    (
        "price_alert",
        "{product} now costs {price} instead of {before}. We cannot say for how long. We write again only if it falls further, and at most once in a week.",
    ),
    (
        "rate_limited",
        "That was a little fast. Wait {seconds} seconds and try again; what you typed is kept. Nothing was ordered or charged in the meantime.",
    ),
    (
        "refund_sent",
        "We received your parcel and refunded {amount}. Depending on your bank it shows within five days. Shipping is refunded when everything came back, and the points of the order are taken off.",
    ),
    (
        "return_accepted",
        "Print the label and bring the parcel to any branch of {carrier} by {date}. The refund follows the scan.",
    ),
    (
        "review_thanks",
        "Thank you for your review. It appears when somebody of us has read it, which we do on working days.",
    ),
    (
        "service_down",
        "We are repairing something and are back soon. Orders that were confirmed are safe. What happened and how far we are can be read at https://status.storefront.example/.",
    ),
    (
        "session_expired",
        "You were away for a while, so we signed you out. Your cart is still here. Sign in again and go on where you were; the page that you had open is remembered.",
    ),
    (
        "subscription_paused",
        "Your subscription is paused until {date}. We write three days before it goes on. You can go on earlier, change what is in it or end it in your account at any time.",
    ),
    (
        "tax_number_accepted",
        "We checked your tax number {number}. From now on you see and pay prices without tax. Orders that were placed before keep theirs; ask your accountant about those.",
    ),
    (
        "trade_in_valued",
        "We looked at your {product} and offer {amount} for it. The offer stands for fourteen days. The label for the parcel is attached; if you change your mind we send it back at our cost.",
    ),
    (
        "unsubscribed",
        "You get no more news from us at {mail}. Messages about your orders still come, as the law asks for.",
    ),
    (
        "verify_mail",
        "Confirm that {mail} is yours with the link below. Without it we cannot send you invoices. The link works for two days; ask for a new one at any time.",
    ),
    (
        "voucher_sent",
        "We are sorry for the trouble with order {number}. The code {code} takes {amount} off your next one. It works for a year, has no minimum and can be given to somebody else.",
    ),
    (
        "welcome_back",
        "Good to see you again, {name}. The cart of your last visit is still here, at the prices of today. Two things may have changed since: what is in stock, and what we charge for shipping.",
    ),
    (
        "wishlist_shared",
        "{name} shared a wish list with you. What you buy from it is marked, but not who bought it. The list ends when {name} closes it, or by itself after a year.",
    ),
    (
        "window_missed",
        "The driver could not reach you. The parcel is at {store} from {time} on and is kept there for seven days.",
    ),
];

/// Name of the message, subject of its mail.
pub(super) const MAIL_SUBJECTS: &[(&str, &str)] = &[
    (
        "account_created",
        "Welcome to {shop}: please confirm your address",
    ),
    ("back_in_stock", "{product} is back"),
    ("basket_expires", "Your cart at {shop} is kept until {date}"),
    (
        "card_expires",
        "Your card expires before your next delivery",
    ),
    ("delivery_delayed", "Order {number} needs a little longer"),
    ("download_ready", "Your download from {shop} is ready"),
    ("gift_card_sent", "{name} sent you a gift card"),
    ("invoice_due", "Invoice {number}, due on {date}"),
    (
        "invoice_reminder",
        "Reminder: invoice {number} is still open",
    ),
    ("order_confirmed", "We have your order {number}"),
    ("order_shipped", "Order {number} is on its way"),
    ("password_reset", "Choose a new password for {shop}"),
    ("pickup_ready", "Order {number} waits for you at {store}"),
    ("refund_sent", "{amount} are on their way back to you"),
    ("wishlist_shared", "{name} shared a wish list with you"),
];
