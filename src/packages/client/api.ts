export interface paths {
    "/clicks": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List clicks
         * @description Clicks of the account, newest first. Bot and test clicks are included and flagged; stats and reports exclude them.
         *
         *     Scope: `read:clicks`.
         */
        get: operations["getClicks"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/conversions": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List conversions
         * @description CPA and revenue conversions of the account, newest first, each in its latest version. Test conversions are included only with `include_test_mode=true`.
         *
         *     Scope: `read:conversions`.
         */
        get: operations["getConversions"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/campaigns": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List campaigns
         * @description Campaigns of the account, newest first.
         *
         *     Scope: `read:campaigns`.
         */
        get: operations["getCampaigns"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/campaigns/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get a campaign
         * @description The same row as in the list of campaigns.
         *
         *     Scope: `read:campaigns`.
         */
        get: operations["getCampaignsById"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/offers": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List offers
         * @description Offers of the account, newest first.
         *
         *     Scope: `read:offers`.
         */
        get: operations["getOffers"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/offers/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get an offer
         * @description The same row as in the list of offers.
         *
         *     Scope: `read:offers`.
         */
        get: operations["getOffersById"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/landing-pages": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List landing pages
         * @description Landing pages of the account, newest first.
         *
         *     Scope: `read:landing-pages`.
         */
        get: operations["getLandingPages"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/landing-pages/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get a landing page
         * @description The same row as in the list of landing pages.
         *
         *     Scope: `read:landing-pages`.
         */
        get: operations["getLandingPagesById"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/traffic-sources": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List traffic sources
         * @description Traffic sources of the account, newest first.
         *
         *     Scope: `read:traffic-sources`.
         */
        get: operations["getTrafficSources"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/traffic-sources/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get a traffic source
         * @description The same row as in the list of traffic sources.
         *
         *     Scope: `read:traffic-sources`.
         */
        get: operations["getTrafficSourcesById"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/conversions/search": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Search conversions
         * @description Conversions with a field that contains the text, ignoring case, newest first; `matches` has the fields. Test conversions are excluded. `externalClickId` and `referrer` are those of the conversion’s click.
         *
         *     Scope: `search:conversions`.
         */
        get: operations["getConversionsSearch"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/campaigns/search": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Search campaigns
         * @description Campaigns with a field that contains the text, ignoring case, newest first; `matches` has the fields.
         *
         *     Scope: `search:campaigns`.
         */
        get: operations["getCampaignsSearch"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/stats/overview": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get totals
         * @description Every metric over a time range, and the current number of campaigns, offers, landing pages and traffic sources that are not archived, which does not depend on the range and the filters. Bot and test clicks and test conversions are excluded. A conversion counts at the time when it converted.
         *
         *     Scope: `read:stats`.
         */
        get: operations["getStatsOverview"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/stats/daily": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get a time series
         * @description Every metric by day, or by hour, week or month, in any time zone, oldest first; rows without clicks are included. A day has 23, 24 or 25 hours, depending on the clock changes of `tz`.
         *
         *     Scope: `read:stats`.
         */
        get: operations["getStatsDaily"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/reports": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get a report
         * @description Metrics for each value of a dimension, or each combination of values of two or three: at most 1,000 rows, ordered by clicks, descending, unless `sort` is set. `totals` and `bucketCount` include all rows. Bot and test clicks and test conversions are excluded. A conversion counts at the time when it converted. Dimensions that conversions do not have are those of their click.
         *
         *     Scope: `read:reports`.
         */
        get: operations["getReports"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/usage": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get usage and limits
         * @description Clicks and events of the current UTC month, and the limits of the plan. Clicks beyond the allowance are tracked and reported; events beyond the ceiling are not stored.
         *
         *     Scope: `read:stats`.
         */
        get: operations["getUsage"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/key": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get the API key
         * @description Account, scopes, expiry and rate limits of the key that the request was sent with. Use it to check a key.
         *
         *     Scope: none; any key may call it.
         */
        get: operations["getKey"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/checksums/clicks": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get checksums of clicks
         * @description Verifies a copy: for each UTC day the number of rows, the sum of their amounts (events have none) and a hash of their ids and versions. A copy that has the same values has the same rows; read a day again only if they differ.
         *
         *     Scope: `read:clicks`.
         */
        get: operations["getChecksumsClicks"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/checksums/conversions": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get checksums of conversions
         * @description Verifies a copy: for each UTC day the number of rows, the sum of their amounts (events have none) and a hash of their ids and versions. A copy that has the same values has the same rows; read a day again only if they differ.
         *
         *     Scope: `read:conversions`.
         */
        get: operations["getChecksumsConversions"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/checksums/events": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get checksums of events
         * @description Verifies a copy: for each UTC day the number of rows, the sum of their amounts (events have none) and a hash of their ids and versions. A copy that has the same values has the same rows; read a day again only if they differ.
         *
         *     Scope: `read:events`.
         */
        get: operations["getChecksumsEvents"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/events": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List events
         * @description Events of your server and of the pixel, newest first. Filters and ranges apply to `occurredAt`. Properties are an object in JSON, and JSON text in exports.
         *
         *     Scope: `read:events`.
         */
        get: operations["getEvents"];
        put?: never;
        /**
         * Send an event
         * @description An analytics signal from your server, stored with the events of the pixel. It never creates a conversion, and its `value` is not revenue. 200 means that the event is stored. After a 503 response, or none, retry with the same `event_id` within 24 hours: if the event was stored before, the response has `deduplicated: true`.
         *
         *     Scope: `write:events`.
         */
        post: operations["postEvents"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/events/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get an event
         * @description The newest server event with this `event_id`.
         *
         *     Scope: `read:events`.
         */
        get: operations["getEventsById"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/funnels": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get a funnel
         * @description How many visitors or clicks pass through a sequence of steps. The first step lies in the range, all others follow within `window`, also after `to`. Each visitor or click counts once, by the longest chain of steps, the earliest of equal ones. A row counts for one step; rows at the same moment are in the order of the steps. Filters and `group_by` apply to the row of the first step, or to its click. Clicks of bots and tests, their events and test conversions are excluded.
         *
         *     Scope: `read:events`.
         */
        get: operations["getFunnels"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/journeys": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get a journey
         * @description The clicks, events and conversions of one visitor or click, oldest first, each with the fields of its list; at the same moment clicks come before events, and events before conversions. Those of bots and tests and conversions of any status are included. A journey without rows is an empty list. Requires `visitor_id` or `click_id`.
         *
         *     Scope: `read:events`.
         */
        get: operations["getJourneys"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/events/batch": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Send a batch of events
         * @description Up to 1,000 events as JSON, or as NDJSON with one event per line. Each event is validated and accepted on its own, with the result that `POST /events` gives. Events with an `event_id` are stored once within 24 hours: after a 503 or without a response, send the whole batch again. Every event counts against the rate limit of the key; a batch that exceeds it is rejected as a whole.
         *
         *     Scope: `write:events`.
         */
        post: operations["postEventsBatch"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
}
export type webhooks = Record<string, never>;
export interface components {
    schemas: {
        Problem: {
            /** @description Error code in snake_case. Codes are stable; use them in your program. */
            error: string;
            /** @description Explanation for a person; the text may change. */
            message: string;
            /** @description Same as the `X-Request-Id` header; include it in support requests. */
            requestId: string;
            /** @description Query parameter or body field that caused the error. */
            param?: string;
            /** @description Scope that the key lacks. */
            required?: string;
        };
        /** @description Your tracking parameters `sub1` to `sub10`; absent ones are null. */
        SubIds: {
            sub1: string | null;
            sub2: string | null;
            sub3: string | null;
            sub4: string | null;
            sub5: string | null;
            sub6: string | null;
            sub7: string | null;
            sub8: string | null;
            sub9: string | null;
            sub10: string | null;
        };
        /** @description Each row has all fields, or those of the parameter `fields`. */
        Click: {
            /** @description Letters, digits, `_ . : -`; 1 to 64 characters. */
            id: string;
            /**
             * Format: date-time
             * @description RFC 3339, UTC, with milliseconds.
             * @example 2026-11-21T03:00:00.000Z
             */
            clickedAt?: string;
            /** @description Letters, digits, `_ . : -`; 1 to 64 characters. */
            campaignId?: string | null;
            /** @description Current name of the campaign; null for an unknown id. */
            campaignName?: string | null;
            /** @description Letters, digits, `_ . : -`; 1 to 64 characters. */
            offerId?: string | null;
            /** @description Current name of the offer; null for an unknown id. */
            offerName?: string | null;
            /** @description Letters, digits, `_ . : -`; 1 to 64 characters. */
            landingPageId?: string | null;
            /** @description Current name of the landing page; null for an unknown id. */
            landingPageName?: string | null;
            /** @description Letters, digits, `_ . : -`; 1 to 64 characters. */
            trafficSourceId?: string | null;
            /** @description Current name of the traffic source; null for an unknown id. */
            trafficSourceName?: string | null;
            /** @description Letters, digits, `_ . : -`; 1 to 64 characters. */
            visitorId?: string | null;
            /** @description Country code, ISO 3166-1 alpha-2. */
            country?: string | null;
            /** @description As sent by the tracker. */
            region?: string | null;
            /** @description As sent by the tracker. */
            city?: string | null;
            /** @enum {string|null} */
            device?: "desktop" | "mobile" | "tablet" | "other" | null;
            /** @description Operating system. */
            os?: string | null;
            /** @description Version of the operating system. */
            osVersion?: string | null;
            /** @description Browser. */
            browser?: string | null;
            /** @description Version of the browser. */
            browserVersion?: string | null;
            /** @description `Accept-Language` header, as sent by the browser. */
            language?: string | null;
            /** @description URL of the page that linked to the click URL. */
            referrer?: string | null;
            /** @description `User-Agent` header, as sent by the browser. */
            userAgent?: string | null;
            /** @description IP address with the last octet (IPv4) or the last 80 bits (IPv6) set to zero. */
            ip?: string | null;
            subIds?: components["schemas"]["SubIds"];
            /** @description Click id of the traffic source, for example a gclid. */
            externalClickId?: string | null;
            /** @description utm_source */
            utmSource?: string | null;
            /** @description utm_medium */
            utmMedium?: string | null;
            /** @description utm_campaign */
            utmCampaign?: string | null;
            /** @description utm_term */
            utmTerm?: string | null;
            /** @description utm_content */
            utmContent?: string | null;
            /** @description At most 6 decimals, in the accompanying currency. */
            cost?: number | null;
            /** @description ISO 4217. */
            currency?: string | null;
            /** @description `cost` in `baseCurrency`, at the rate imported with the click. */
            costBase?: number | null;
            /** @description Currency of the account. */
            baseCurrency?: string;
            /** @description Click of a bot: listed here, excluded from stats and reports. */
            isBot?: boolean;
            /** @description Test click: listed here, excluded from stats and reports. */
            isTest?: boolean;
            /** @description Whether `conversionCount` is above 0. */
            converted?: boolean;
            /** @description Number of conversions of this click, of any status, without tests. */
            conversionCount?: number;
            /**
             * Format: date-time
             * @description When Tributary stored the row, or this version of it. `updated_since` filters and orders by this field.
             * @example 2026-11-21T03:00:00.000Z
             */
            storedAt?: string;
        };
        /** @description Each row has all fields, or those of the parameter `fields`. */
        Conversion: {
            /** @description Letters, digits, `_ . : -`; 1 to 64 characters. */
            id: string;
            /** @enum {string} */
            source?: "cpa" | "revenue";
            /** @enum {string} */
            status?: "approved" | "pending" | "declined" | "hold" | "refunded" | "chargeback";
            /** @description Status in the terms of the sender. */
            externalStatus?: string | null;
            /** @description Name of the event, for example purchase. */
            eventName?: string | null;
            /**
             * Format: date-time
             * @description RFC 3339, UTC, with milliseconds.
             * @example 2026-11-21T03:00:00.000Z
             */
            convertedAt?: string;
            /**
             * Format: date-time
             * @description RFC 3339, UTC, with milliseconds.
             * @example 2026-11-21T03:00:00.000Z
             */
            clickedAt?: string | null;
            /**
             * Format: date-time
             * @description RFC 3339, UTC, with milliseconds.
             * @example 2026-11-21T03:00:00.000Z
             */
            createdAt?: string;
            /**
             * Format: date-time
             * @description RFC 3339, UTC, with milliseconds.
             * @example 2026-11-21T03:00:00.000Z
             */
            updatedAt?: string;
            /** @description Letters, digits, `_ . : -`; 1 to 64 characters. */
            clickId?: string | null;
            /** @description Letters, digits, `_ . : -`; 1 to 64 characters. */
            visitorId?: string | null;
            /** @description Transaction id of the sender. */
            transactionId?: string | null;
            /** @description Letters, digits, `_ . : -`; 1 to 64 characters. */
            campaignId?: string | null;
            /** @description Current name of the campaign; null for an unknown id. */
            campaignName?: string | null;
            /** @description Letters, digits, `_ . : -`; 1 to 64 characters. */
            offerId?: string | null;
            /** @description Current name of the offer; null for an unknown id. */
            offerName?: string | null;
            /** @description Letters, digits, `_ . : -`; 1 to 64 characters. */
            landingPageId?: string | null;
            /** @description Current name of the landing page; null for an unknown id. */
            landingPageName?: string | null;
            /** @description Letters, digits, `_ . : -`; 1 to 64 characters. */
            trafficSourceId?: string | null;
            /** @description Current name of the traffic source; null for an unknown id. */
            trafficSourceName?: string | null;
            /** @description Country code, ISO 3166-1 alpha-2. */
            country?: string | null;
            /** @enum {string|null} */
            device?: "desktop" | "mobile" | "tablet" | "other" | null;
            /** @description Operating system. */
            os?: string | null;
            /** @description Browser. */
            browser?: string | null;
            subIds?: components["schemas"]["SubIds"];
            /** @description At most 6 decimals, in the accompanying currency. */
            payout?: number | null;
            /** @description At most 6 decimals, in the accompanying currency. */
            revenue?: number | null;
            /** @description ISO 4217. */
            currency?: string | null;
            /** @description `revenue` in `baseCurrency`, at the rate imported with the conversion. */
            revenueBase?: number | null;
            /** @description Currency of the account. */
            baseCurrency?: string;
            /** @description Coupon code, as sent. */
            couponCode?: string | null;
            /** @description Test conversion: excluded from stats and reports, listed only with `include_test_mode=true`. */
            isTest?: boolean;
            /**
             * Format: date-time
             * @description When Tributary stored the row, or this version of it. `updated_since` filters and orders by this field.
             * @example 2026-11-21T03:00:00.000Z
             */
            storedAt?: string;
        };
        /** @description Each row has all fields, or those of the parameter `fields`. */
        Campaign: {
            /** @description Letters, digits, `_ . : -`; 1 to 64 characters. */
            id: string;
            name?: string;
            /** @description Id of the user who owns the campaign. */
            userId?: string;
            /** @enum {string} */
            status?: "active" | "paused" | "archived";
            /** @description Letters, digits, `_ . : -`; 1 to 64 characters. */
            trafficSourceId?: string | null;
            /** @description Current name of the traffic source; null for an unknown id. */
            trafficSourceName?: string | null;
            /** @description Cost model, for example cpc. */
            costModel?: string | null;
            /** @description At most 6 decimals, in the accompanying currency. */
            costValue?: number | null;
            /** @description ISO 4217. */
            currency?: string | null;
            /** @description Tags that you define. */
            tags?: string[];
            /**
             * Format: date-time
             * @description RFC 3339, UTC, with milliseconds.
             * @example 2026-11-21T03:00:00.000Z
             */
            createdAt?: string;
            /**
             * Format: date-time
             * @description RFC 3339, UTC, with milliseconds.
             * @example 2026-11-21T03:00:00.000Z
             */
            updatedAt?: string;
        };
        /** @description Each row has all fields, or those of the parameter `fields`. */
        Offer: {
            /** @description Letters, digits, `_ . : -`; 1 to 64 characters. */
            id: string;
            name?: string;
            /** @enum {string} */
            status?: "active" | "paused" | "archived";
            /** @description URL. */
            url?: string | null;
            /** @description Affiliate network of the offer. */
            affiliateNetwork?: string | null;
            /** @description Payout model, for example cpa. */
            payoutType?: string | null;
            /** @description At most 6 decimals, in the accompanying currency. */
            payout?: number | null;
            /** @description ISO 4217. */
            currency?: string | null;
            /** @description Country codes, ISO 3166-1 alpha-2; an empty list means all countries. */
            countries?: string[];
            /** @description Tags that you define. */
            tags?: string[];
            /**
             * Format: date-time
             * @description RFC 3339, UTC, with milliseconds.
             * @example 2026-11-21T03:00:00.000Z
             */
            createdAt?: string;
            /**
             * Format: date-time
             * @description RFC 3339, UTC, with milliseconds.
             * @example 2026-11-21T03:00:00.000Z
             */
            updatedAt?: string;
        };
        /** @description Each row has all fields, or those of the parameter `fields`. */
        LandingPage: {
            /** @description Letters, digits, `_ . : -`; 1 to 64 characters. */
            id: string;
            name?: string;
            /** @enum {string} */
            status?: "active" | "paused" | "archived";
            /** @description URL. */
            url?: string | null;
            /** @description Tags that you define. */
            tags?: string[];
            /**
             * Format: date-time
             * @description RFC 3339, UTC, with milliseconds.
             * @example 2026-11-21T03:00:00.000Z
             */
            createdAt?: string;
            /**
             * Format: date-time
             * @description RFC 3339, UTC, with milliseconds.
             * @example 2026-11-21T03:00:00.000Z
             */
            updatedAt?: string;
        };
        /** @description Each row has all fields, or those of the parameter `fields`. */
        TrafficSource: {
            /** @description Letters, digits, `_ . : -`; 1 to 64 characters. */
            id: string;
            name?: string;
            /** @enum {string} */
            status?: "active" | "paused" | "archived";
            /** @description Category, for example social. */
            category?: string | null;
            /** @description Cost model, for example cpc. */
            costModel?: string | null;
            /** @description ISO 4217. */
            currency?: string | null;
            /**
             * Format: date-time
             * @description RFC 3339, UTC, with milliseconds.
             * @example 2026-11-21T03:00:00.000Z
             */
            createdAt?: string;
            /**
             * Format: date-time
             * @description RFC 3339, UTC, with milliseconds.
             * @example 2026-11-21T03:00:00.000Z
             */
            updatedAt?: string;
        };
        Match: {
            /** @description Field that contains the text. */
            field: string;
            /** @description Value of the field. */
            value: string;
        };
        ConversionMatch: {
            /** @description Letters, digits, `_ . : -`; 1 to 64 characters. */
            id: string;
            /** @enum {string} */
            source: "cpa" | "revenue";
            /** @enum {string} */
            status: "approved" | "pending" | "declined" | "hold" | "refunded" | "chargeback";
            /** @description Status in the terms of the sender. */
            externalStatus: string | null;
            /** @description Name of the event, for example purchase. */
            eventName: string | null;
            /**
             * Format: date-time
             * @description RFC 3339, UTC, with milliseconds.
             * @example 2026-11-21T03:00:00.000Z
             */
            convertedAt: string;
            /**
             * Format: date-time
             * @description RFC 3339, UTC, with milliseconds.
             * @example 2026-11-21T03:00:00.000Z
             */
            clickedAt: string | null;
            /**
             * Format: date-time
             * @description RFC 3339, UTC, with milliseconds.
             * @example 2026-11-21T03:00:00.000Z
             */
            createdAt: string;
            /**
             * Format: date-time
             * @description RFC 3339, UTC, with milliseconds.
             * @example 2026-11-21T03:00:00.000Z
             */
            updatedAt: string;
            /** @description Letters, digits, `_ . : -`; 1 to 64 characters. */
            clickId: string | null;
            /** @description Letters, digits, `_ . : -`; 1 to 64 characters. */
            visitorId: string | null;
            /** @description Transaction id of the sender. */
            transactionId: string | null;
            /** @description Letters, digits, `_ . : -`; 1 to 64 characters. */
            campaignId: string | null;
            /** @description Current name of the campaign; null for an unknown id. */
            campaignName: string | null;
            /** @description Letters, digits, `_ . : -`; 1 to 64 characters. */
            offerId: string | null;
            /** @description Current name of the offer; null for an unknown id. */
            offerName: string | null;
            /** @description Letters, digits, `_ . : -`; 1 to 64 characters. */
            landingPageId: string | null;
            /** @description Current name of the landing page; null for an unknown id. */
            landingPageName: string | null;
            /** @description Letters, digits, `_ . : -`; 1 to 64 characters. */
            trafficSourceId: string | null;
            /** @description Current name of the traffic source; null for an unknown id. */
            trafficSourceName: string | null;
            /** @description Country code, ISO 3166-1 alpha-2. */
            country: string | null;
            /** @enum {string|null} */
            device: "desktop" | "mobile" | "tablet" | "other" | null;
            /** @description Operating system. */
            os: string | null;
            /** @description Browser. */
            browser: string | null;
            subIds: components["schemas"]["SubIds"];
            /** @description At most 6 decimals, in the accompanying currency. */
            payout: number | null;
            /** @description At most 6 decimals, in the accompanying currency. */
            revenue: number | null;
            /** @description ISO 4217. */
            currency: string | null;
            /** @description `revenue` in `baseCurrency`, at the rate imported with the conversion. */
            revenueBase: number | null;
            /** @description Currency of the account. */
            baseCurrency: string;
            /** @description Coupon code, as sent. */
            couponCode: string | null;
            /** @description Test conversion: excluded from stats and reports, listed only with `include_test_mode=true`. */
            isTest: boolean;
            /**
             * Format: date-time
             * @description When Tributary stored the row, or this version of it. `updated_since` filters and orders by this field.
             * @example 2026-11-21T03:00:00.000Z
             */
            storedAt: string;
            /**
             * @description Always true.
             * @enum {boolean}
             */
            matched: true;
            /** @description Every field that contains the text; for tags, every matching tag. */
            matches: components["schemas"]["Match"][];
        };
        CampaignMatch: {
            /** @description Letters, digits, `_ . : -`; 1 to 64 characters. */
            id: string;
            name: string;
            /** @description Id of the user who owns the campaign. */
            userId: string;
            /** @enum {string} */
            status: "active" | "paused" | "archived";
            /** @description Letters, digits, `_ . : -`; 1 to 64 characters. */
            trafficSourceId: string | null;
            /** @description Current name of the traffic source; null for an unknown id. */
            trafficSourceName: string | null;
            /** @description Cost model, for example cpc. */
            costModel: string | null;
            /** @description At most 6 decimals, in the accompanying currency. */
            costValue: number | null;
            /** @description ISO 4217. */
            currency: string | null;
            /** @description Tags that you define. */
            tags: string[];
            /**
             * Format: date-time
             * @description RFC 3339, UTC, with milliseconds.
             * @example 2026-11-21T03:00:00.000Z
             */
            createdAt: string;
            /**
             * Format: date-time
             * @description RFC 3339, UTC, with milliseconds.
             * @example 2026-11-21T03:00:00.000Z
             */
            updatedAt: string;
            /**
             * @description Always true.
             * @enum {boolean}
             */
            matched: true;
            /** @description Every field that contains the text; for tags, every matching tag. */
            matches: components["schemas"]["Match"][];
        };
        Metrics: {
            /** @description Clicks, without bots and tests. */
            clicks: number;
            /** @description Approved conversions. */
            conversions: number;
            /** @description Revenue of approved conversions, in the account currency. */
            revenue: number;
            /** @description Conversions with status pending. */
            pendingConversions: number;
            /** @description Conversions with status hold. */
            holdConversions: number;
            /** @description Conversions with status declined. */
            declinedConversions: number;
            /** @description Conversions with status refunded or chargeback. */
            refundedConversions: number;
            /** @description Revenue of conversions with status pending or hold. */
            pendingRevenue: number;
            /** @description Revenue of conversions with status refunded or chargeback. */
            refundedRevenue: number;
            /** @description Cost of clicks, in the account currency. */
            cost: number;
            /** @description revenue − cost. */
            profit: number;
            /** @description profit / cost × 100, percent; null if cost is 0. */
            roi: number | null;
            /** @description conversions / clicks × 100, percent; null if clicks is 0. */
            cr: number | null;
            /** @description revenue / clicks; null if clicks is 0. */
            epc: number | null;
            /** @description cost / conversions; null if conversions is 0. */
            cpa: number | null;
            /** @description cost / clicks; null if clicks is 0. */
            cpc: number | null;
            /** @description revenue / conversions; null if conversions is 0. */
            aov: number | null;
        };
        StatsOverview: {
            /**
             * Format: date-time
             * @description RFC 3339, UTC, with milliseconds.
             * @example 2026-11-21T03:00:00.000Z
             */
            from: string;
            /**
             * Format: date-time
             * @description RFC 3339, UTC, with milliseconds.
             * @example 2026-11-21T03:00:00.000Z
             */
            to: string;
            /** @description IANA time zone of the days. */
            tz: string;
            /** @description ISO 4217. */
            currency: string;
            totals: components["schemas"]["Metrics"];
            /** @description With `compare`: the earlier range and its totals. */
            previous?: {
                /**
                 * Format: date-time
                 * @description RFC 3339, UTC, with milliseconds.
                 * @example 2026-11-21T03:00:00.000Z
                 */
                from: string;
                /**
                 * Format: date-time
                 * @description RFC 3339, UTC, with milliseconds.
                 * @example 2026-11-21T03:00:00.000Z
                 */
                to: string;
                totals: components["schemas"]["Metrics"];
            };
            resources: {
                /** @description Current number of campaigns that are not archived. */
                campaigns: number;
                /** @description Current number of offers that are not archived. */
                offers: number;
                /** @description Current number of landing pages that are not archived. */
                landingPages: number;
                /** @description Current number of traffic sources that are not archived. */
                trafficSources: number;
            };
            /**
             * Format: date-time
             * @description Present if the response would need rows from before this time: the account has removed them by its retention. Sums of whole UTC days still count them.
             * @example 2026-11-21T03:00:00.000Z
             */
            retainedFrom?: string;
            /**
             * Format: date-time
             * @description RFC 3339, UTC, with milliseconds.
             * @example 2026-11-21T03:00:00.000Z
             */
            asOf: string;
        };
        StatsDay: {
            /**
             * @description Date of the local day; with `interval`: the local time of an hour with its UTC offset, the Monday of a week, the first day of a month.
             * @example 2026-11-20
             * @example 2026-11-20T14:00+05:30
             */
            id: string;
            /**
             * Format: date
             * @description Local date on which the row starts.
             */
            date: string;
            /** @description Whether the time range includes all of it and it is over. Its metrics can still change when a conversion is approved or refunded later. */
            complete: boolean;
            /** @description Clicks, without bots and tests. */
            clicks: number;
            /** @description Approved conversions. */
            conversions: number;
            /** @description Revenue of approved conversions, in the account currency. */
            revenue: number;
            /** @description Conversions with status pending. */
            pendingConversions: number;
            /** @description Conversions with status hold. */
            holdConversions: number;
            /** @description Conversions with status declined. */
            declinedConversions: number;
            /** @description Conversions with status refunded or chargeback. */
            refundedConversions: number;
            /** @description Revenue of conversions with status pending or hold. */
            pendingRevenue: number;
            /** @description Revenue of conversions with status refunded or chargeback. */
            refundedRevenue: number;
            /** @description Cost of clicks, in the account currency. */
            cost: number;
            /** @description revenue − cost. */
            profit: number;
            /** @description profit / cost × 100, percent; null if cost is 0. */
            roi: number | null;
            /** @description conversions / clicks × 100, percent; null if clicks is 0. */
            cr: number | null;
            /** @description revenue / clicks; null if clicks is 0. */
            epc: number | null;
            /** @description cost / conversions; null if conversions is 0. */
            cpa: number | null;
            /** @description cost / clicks; null if clicks is 0. */
            cpc: number | null;
            /** @description revenue / conversions; null if conversions is 0. */
            aov: number | null;
            /** @description With `compare`: the same unit of time in the earlier range. */
            previous?: {
                /** @description Id of the row in the earlier range; null if it has none, for example of 29 February. */
                id: string | null;
                /** @description Clicks, without bots and tests. */
                clicks: number;
                /** @description Approved conversions. */
                conversions: number;
                /** @description Revenue of approved conversions, in the account currency. */
                revenue: number;
                /** @description Conversions with status pending. */
                pendingConversions: number;
                /** @description Conversions with status hold. */
                holdConversions: number;
                /** @description Conversions with status declined. */
                declinedConversions: number;
                /** @description Conversions with status refunded or chargeback. */
                refundedConversions: number;
                /** @description Revenue of conversions with status pending or hold. */
                pendingRevenue: number;
                /** @description Revenue of conversions with status refunded or chargeback. */
                refundedRevenue: number;
                /** @description Cost of clicks, in the account currency. */
                cost: number;
                /** @description revenue − cost. */
                profit: number;
                /** @description profit / cost × 100, percent; null if cost is 0. */
                roi: number | null;
                /** @description conversions / clicks × 100, percent; null if clicks is 0. */
                cr: number | null;
                /** @description revenue / clicks; null if clicks is 0. */
                epc: number | null;
                /** @description cost / conversions; null if conversions is 0. */
                cpa: number | null;
                /** @description cost / clicks; null if clicks is 0. */
                cpc: number | null;
                /** @description revenue / conversions; null if conversions is 0. */
                aov: number | null;
            };
        };
        StatsDaily: {
            /**
             * Format: date-time
             * @description RFC 3339, UTC, with milliseconds.
             * @example 2026-11-21T03:00:00.000Z
             */
            from: string;
            /**
             * Format: date-time
             * @description RFC 3339, UTC, with milliseconds.
             * @example 2026-11-21T03:00:00.000Z
             */
            to: string;
            /** @description IANA time zone of the days. */
            tz: string;
            /** @description ISO 4217. */
            currency: string;
            /** @description Every local day, or every `interval`, oldest first, including those without clicks. */
            data: components["schemas"]["StatsDay"][];
            /** @description With `compare`: the earlier range. */
            previous?: {
                /**
                 * Format: date-time
                 * @description RFC 3339, UTC, with milliseconds.
                 * @example 2026-11-21T03:00:00.000Z
                 */
                from: string;
                /**
                 * Format: date-time
                 * @description RFC 3339, UTC, with milliseconds.
                 * @example 2026-11-21T03:00:00.000Z
                 */
                to: string;
            };
            /**
             * Format: date-time
             * @description Present if the response would need rows from before this time: the account has removed them by its retention. Sums of whole UTC days still count them.
             * @example 2026-11-21T03:00:00.000Z
             */
            retainedFrom?: string;
            /**
             * Format: date-time
             * @description RFC 3339, UTC, with milliseconds.
             * @example 2026-11-21T03:00:00.000Z
             */
            asOf: string;
        };
        ReportRow: {
            /** @description Value of the dimension: a campaign id, a country code, a day, …; `(not set)` for rows without a value. With several dimensions: their ids as a JSON array. */
            id: string;
            /** @description Name of the value; null for an unknown id. */
            name: string | null;
            /** @description With several dimensions: id and name of each. */
            dimensions?: {
                [key: string]: {
                    id: string;
                    /** @description Name of the value; null for an unknown id. */
                    name: string | null;
                };
            };
            /** @description Clicks, without bots and tests. */
            clicks?: number;
            /** @description Approved conversions. */
            conversions?: number;
            /** @description Revenue of approved conversions, in the account currency. */
            revenue?: number;
            /** @description Conversions with status pending. */
            pendingConversions?: number;
            /** @description Conversions with status hold. */
            holdConversions?: number;
            /** @description Conversions with status declined. */
            declinedConversions?: number;
            /** @description Conversions with status refunded or chargeback. */
            refundedConversions?: number;
            /** @description Revenue of conversions with status pending or hold. */
            pendingRevenue?: number;
            /** @description Revenue of conversions with status refunded or chargeback. */
            refundedRevenue?: number;
            /** @description Cost of clicks, in the account currency. */
            cost?: number;
            /** @description revenue − cost. */
            profit?: number;
            /** @description profit / cost × 100, percent; null if cost is 0. */
            roi?: number | null;
            /** @description conversions / clicks × 100, percent; null if clicks is 0. */
            cr?: number | null;
            /** @description revenue / clicks; null if clicks is 0. */
            epc?: number | null;
            /** @description cost / conversions; null if conversions is 0. */
            cpa?: number | null;
            /** @description cost / clicks; null if clicks is 0. */
            cpc?: number | null;
            /** @description revenue / conversions; null if conversions is 0. */
            aov?: number | null;
            /** @description With `compare`: the same bucket in the earlier range. */
            previous?: {
                /** @description Id of the bucket in the earlier range; null if it has none, for example of 29 February. */
                id: string | null;
                /** @description Clicks, without bots and tests. */
                clicks?: number;
                /** @description Approved conversions. */
                conversions?: number;
                /** @description Revenue of approved conversions, in the account currency. */
                revenue?: number;
                /** @description Conversions with status pending. */
                pendingConversions?: number;
                /** @description Conversions with status hold. */
                holdConversions?: number;
                /** @description Conversions with status declined. */
                declinedConversions?: number;
                /** @description Conversions with status refunded or chargeback. */
                refundedConversions?: number;
                /** @description Revenue of conversions with status pending or hold. */
                pendingRevenue?: number;
                /** @description Revenue of conversions with status refunded or chargeback. */
                refundedRevenue?: number;
                /** @description Cost of clicks, in the account currency. */
                cost?: number;
                /** @description revenue − cost. */
                profit?: number;
                /** @description profit / cost × 100, percent; null if cost is 0. */
                roi?: number | null;
                /** @description conversions / clicks × 100, percent; null if clicks is 0. */
                cr?: number | null;
                /** @description revenue / clicks; null if clicks is 0. */
                epc?: number | null;
                /** @description cost / conversions; null if conversions is 0. */
                cpa?: number | null;
                /** @description cost / clicks; null if clicks is 0. */
                cpc?: number | null;
                /** @description revenue / conversions; null if conversions is 0. */
                aov?: number | null;
            };
        };
        /** @description All metrics, or those of `metrics`. */
        SelectedMetrics: {
            /** @description Clicks, without bots and tests. */
            clicks?: number;
            /** @description Approved conversions. */
            conversions?: number;
            /** @description Revenue of approved conversions, in the account currency. */
            revenue?: number;
            /** @description Conversions with status pending. */
            pendingConversions?: number;
            /** @description Conversions with status hold. */
            holdConversions?: number;
            /** @description Conversions with status declined. */
            declinedConversions?: number;
            /** @description Conversions with status refunded or chargeback. */
            refundedConversions?: number;
            /** @description Revenue of conversions with status pending or hold. */
            pendingRevenue?: number;
            /** @description Revenue of conversions with status refunded or chargeback. */
            refundedRevenue?: number;
            /** @description Cost of clicks, in the account currency. */
            cost?: number;
            /** @description revenue − cost. */
            profit?: number;
            /** @description profit / cost × 100, percent; null if cost is 0. */
            roi?: number | null;
            /** @description conversions / clicks × 100, percent; null if clicks is 0. */
            cr?: number | null;
            /** @description revenue / clicks; null if clicks is 0. */
            epc?: number | null;
            /** @description cost / conversions; null if conversions is 0. */
            cpa?: number | null;
            /** @description cost / clicks; null if clicks is 0. */
            cpc?: number | null;
            /** @description revenue / conversions; null if conversions is 0. */
            aov?: number | null;
        };
        Report: {
            /** @description Same as `group_by` of the request. */
            groupBy: string;
            /**
             * Format: date-time
             * @description RFC 3339, UTC, with milliseconds.
             * @example 2026-11-21T03:00:00.000Z
             */
            from: string;
            /**
             * Format: date-time
             * @description RFC 3339, UTC, with milliseconds.
             * @example 2026-11-21T03:00:00.000Z
             */
            to: string;
            /** @description IANA time zone, if the request has `tz`. */
            tz?: string;
            /** @description ISO 4217. */
            currency: string;
            /** @description Ordered by `sort`; by default by clicks, descending, then by id. */
            data: components["schemas"]["ReportRow"][];
            totals: components["schemas"]["SelectedMetrics"];
            /** @description With `compare`: the earlier range and its totals. */
            previous?: {
                /**
                 * Format: date-time
                 * @description RFC 3339, UTC, with milliseconds.
                 * @example 2026-11-21T03:00:00.000Z
                 */
                from: string;
                /**
                 * Format: date-time
                 * @description RFC 3339, UTC, with milliseconds.
                 * @example 2026-11-21T03:00:00.000Z
                 */
                to: string;
                totals: components["schemas"]["SelectedMetrics"];
            };
            /**
             * Format: date-time
             * @description Present if the response would need rows from before this time: the account has removed them by its retention. Sums of whole UTC days still count them.
             * @example 2026-11-21T03:00:00.000Z
             */
            retainedFrom?: string;
            /** @description Total number of buckets, including those beyond `limit`. */
            bucketCount: number;
            /** @description Whether there are more buckets than rows in `data`. */
            truncated: boolean;
            /**
             * Format: date-time
             * @description RFC 3339, UTC, with milliseconds.
             * @example 2026-11-21T03:00:00.000Z
             */
            asOf: string;
        };
        PlanLimits: {
            /** @description Requests per minute of this key, without events. */
            requestsPerMinute: number;
            /** @description Events per minute of this key. */
            eventsPerMinute: number;
            /** @description Events per minute of one click or visitor. */
            identifierEventsPerMinute: number;
        };
        Usage: {
            /**
             * Format: date-time
             * @description Start of the current UTC month.
             * @example 2026-11-21T03:00:00.000Z
             */
            from: string;
            /**
             * Format: date-time
             * @description Start of the next UTC month, when the counts start at zero.
             * @example 2026-11-21T03:00:00.000Z
             */
            to: string;
            /**
             * @description Name of the subscription plan.
             * @example pro
             */
            plan: string;
            clicks: {
                /** @description Clicks of this month, without bots and tests, as in stats and reports. */
                tracked: number;
                /** @description Clicks per month included in the plan. */
                allowance: number;
            };
            events: {
                /** @description Server events stored this month, without duplicates. */
                stored: number;
                /** @description Fair-use ceiling: 20 times the click allowance. Events beyond it are accepted but not stored. */
                ceiling: number;
            };
            limits: components["schemas"]["PlanLimits"];
            /**
             * Format: date-time
             * @description RFC 3339, UTC, with milliseconds.
             * @example 2026-11-21T03:00:00.000Z
             */
            asOf: string;
        };
        Key: {
            /**
             * Format: uuid
             * @description Id of the key, as in `tributary key list`.
             */
            id: string;
            /**
             * @description Purpose of the key, as given when it was created.
             * @example BI tool
             */
            name: string;
            /** @example acme */
            accountId: string;
            /** @example Acme */
            accountName: string;
            /** @description Currency of every amount in stats and reports. */
            currency: string;
            /**
             * @description Name of the subscription plan.
             * @example pro
             */
            plan: string;
            /** @description Operations that the key may call. */
            scopes: ("read:conversions" | "read:clicks" | "read:campaigns" | "read:offers" | "read:landing-pages" | "read:traffic-sources" | "read:stats" | "read:reports" | "read:events" | "search:conversions" | "search:campaigns" | "write:events")[];
            /**
             * Format: date-time
             * @description When the key expires; null if it does not expire.
             * @example 2026-11-21T03:00:00.000Z
             */
            expiresAt: string | null;
            limits: components["schemas"]["PlanLimits"];
        };
        ClickChecksum: {
            /**
             * Format: date
             * @description UTC day of `clickedAt`. Days without rows are omitted.
             */
            day: string;
            /** @description Number of rows, including tests and bots. */
            rows: number;
            /** @description Sum of `costBase`. */
            costBase: number;
            /**
             * @description XOR over the rows of the first 15 hexadecimal digits of MD5(`id|storedAt`), with `storedAt` as in a response; lower case, with leading zeros.
             * @example 0a1b2c3d4e5f607
             */
            hash: string;
        };
        ConversionChecksum: {
            /**
             * Format: date
             * @description UTC day of `convertedAt`. Days without rows are omitted.
             */
            day: string;
            /** @description Number of rows, including tests and bots. */
            rows: number;
            /** @description Sum of `revenueBase`, of any status. */
            revenueBase: number;
            /**
             * @description XOR over the rows of the first 15 hexadecimal digits of MD5(`id|storedAt`), with `storedAt` as in a response; lower case, with leading zeros.
             * @example 0a1b2c3d4e5f607
             */
            hash: string;
        };
        EventChecksum: {
            /**
             * Format: date
             * @description UTC day of `occurredAt`. Days without rows are omitted.
             */
            day: string;
            /** @description Number of rows, including tests and bots. */
            rows: number;
            /**
             * @description XOR over the rows of the first 15 hexadecimal digits of MD5(`origin|id|generation|storedAt`), with `storedAt` as in a response; lower case, with leading zeros.
             * @example 0a1b2c3d4e5f607
             */
            hash: string;
        };
        /** @description Each row has all fields, or those of the parameter `fields`. */
        StoredEvent: {
            /** @description `event_id`, or a generated UUIDv7. */
            id: string;
            /**
             * @description `server`: sent to `POST /events` or `POST /events/batch`; `browser`: sent by the pixel.
             * @enum {string}
             */
            origin?: "server" | "browser";
            /** @description How many times this `event_id` was accepted before, each time more than 24 hours after the last. */
            generation?: number;
            /** @description Name of the event. */
            eventName?: string;
            /** @description Letters, digits, `_ . : -`; 1 to 64 characters. */
            clickId?: string | null;
            /** @description Letters, digits, `_ . : -`; 1 to 64 characters. */
            visitorId?: string | null;
            /** @description Campaign of the click, or the named campaign. */
            campaignId?: string | null;
            /** @description Current name of the campaign; null for an unknown id. */
            campaignName?: string | null;
            /** @description Owner of the campaign. */
            userId?: string | null;
            /** @description Number that you define, not revenue. */
            value?: number | null;
            /** @description ISO 4217. */
            currency?: string | null;
            /** @description Fields that you define. */
            properties?: {
                [key: string]: string | number | boolean;
            } | null;
            /**
             * Format: date-time
             * @description Time of the event, clamped.
             * @example 2026-11-21T03:00:00.000Z
             */
            occurredAt?: string;
            /**
             * Format: date-time
             * @description When the event was accepted.
             * @example 2026-11-21T03:00:00.000Z
             */
            receivedAt?: string;
            /**
             * Format: date-time
             * @description When Tributary stored the event.
             * @example 2026-11-21T03:00:00.000Z
             */
            storedAt?: string;
        };
        /** @description Identify the event by `click_id`, or by `visitor_id` and `campaign_id`. */
        EventInput: {
            /** @description Click that the event belongs to; use it for paid traffic. */
            click_id?: string | null;
            /** @description Visitor id of the pixel, for organic or direct traffic; requires `campaign_id`. */
            visitor_id?: string | null;
            /** @description Campaign of `visitor_id`; ignored if `click_id` is present. */
            campaign_id?: string | null;
            /**
             * @description Name of the event.
             * @example trial_converted
             */
            event_name: string;
            /**
             * @description Number that you define, not revenue; clamped to ±1e12.
             * @example 49.9
             */
            value?: number | null;
            /**
             * @description ISO 4217 code in uppercase; any other text is ignored.
             * @example USD
             */
            currency?: string | null;
            /**
             * @description Up to 20 fields that you define: text of up to 256 characters, finite numbers, booleans. Fields above a limit or of another type are dropped; above 8 KiB the whole object is dropped.
             * @example {
             *       "plan": "yearly",
             *       "seats": 3
             *     }
             */
            properties?: {
                [key: string]: string | number | boolean;
            } | null;
            /**
             * @description Your id of this event. Requests with the same id within 24 hours have no further effect, so a request without a response can be retried safely.
             * @example order-1042-paid
             */
            event_id?: string | null;
            /**
             * @description Time of the event, ISO 8601; default: the time of the request. Clamped to the last 30 days and the next 5 minutes.
             * @example 2026-11-21T03:00:00Z
             */
            timestamp?: string | null;
        };
        EventNote: {
            /**
             * @description `field_ignored`: The body has a field that does not exist. `property_dropped`: A property is above a limit or has an unsupported type. `properties_dropped`: `properties` is not an object, or above its size limit. `currency_ignored`: `currency` is not an uppercase ISO 4217 code. `value_clamped`: `value` is clamped to its range. `timestamp_clamped`: `timestamp` is clamped to its range. `notes_omitted`: The event has more than 20 notes; this one is the last, and `message` has the number of the others.
             * @enum {string}
             */
            code: "field_ignored" | "property_dropped" | "properties_dropped" | "currency_ignored" | "value_clamped" | "timestamp_clamped" | "notes_omitted";
            /** @description Field of the body, for example `eventId` or `properties.plan`. */
            field: string;
            /** @description Explanation for a person; the text may change. */
            message: string;
        };
        FunnelStep: {
            /** @description As in the request. */
            step: string;
            /** @description Visitors or clicks that reached this step. */
            entered: number;
            /** @description Percent of those that reached the previous step; at most 6 decimals; null for the first step and if there are none. */
            fromPrevious: number | null;
            /** @description Percent of those that reached the first step; at most 6 decimals; null if there are none. */
            fromFirst: number | null;
            /** @description Median time since the previous step, seconds, of those that reached this step; null for the first step and if there are none. */
            medianSeconds: number | null;
        };
        FunnelGroup: {
            /** @description Value of the dimension; `(not set)` without a value. */
            id: string;
            /** @description Name of the value; null for an unknown id. */
            name: string | null;
            steps: components["schemas"]["FunnelStep"][];
        };
        Funnel: {
            /**
             * Format: date-time
             * @description RFC 3339, UTC, with milliseconds.
             * @example 2026-11-21T03:00:00.000Z
             */
            from: string;
            /**
             * Format: date-time
             * @description RFC 3339, UTC, with milliseconds.
             * @example 2026-11-21T03:00:00.000Z
             */
            to: string;
            steps: components["schemas"]["FunnelStep"][];
            /** @description With `group_by`: at most 1000 values, ordered by `entered` of the first step, descending, then by id. `steps` includes all values. */
            data?: components["schemas"]["FunnelGroup"][];
            /**
             * Format: date-time
             * @description Present if the response would need rows from before this time: the account has removed them by its retention. Sums of whole UTC days still count them.
             * @example 2026-11-21T03:00:00.000Z
             */
            retainedFrom?: string;
            /**
             * Format: date-time
             * @description RFC 3339, UTC, with milliseconds.
             * @example 2026-11-21T03:00:00.000Z
             */
            asOf: string;
        };
        JourneyClick: {
            /** @description Letters, digits, `_ . : -`; 1 to 64 characters. */
            id: string;
            /**
             * @description Kind of the row.
             * @enum {string}
             */
            kind: "click";
            /**
             * Format: date-time
             * @description Equal to `clickedAt`; the rows are in the order of this time.
             * @example 2026-11-21T03:00:00.000Z
             */
            at: string;
            /**
             * Format: date-time
             * @description RFC 3339, UTC, with milliseconds.
             * @example 2026-11-21T03:00:00.000Z
             */
            clickedAt: string;
            /** @description Letters, digits, `_ . : -`; 1 to 64 characters. */
            campaignId: string | null;
            /** @description Current name of the campaign; null for an unknown id. */
            campaignName: string | null;
            /** @description Letters, digits, `_ . : -`; 1 to 64 characters. */
            offerId: string | null;
            /** @description Current name of the offer; null for an unknown id. */
            offerName: string | null;
            /** @description Letters, digits, `_ . : -`; 1 to 64 characters. */
            landingPageId: string | null;
            /** @description Current name of the landing page; null for an unknown id. */
            landingPageName: string | null;
            /** @description Letters, digits, `_ . : -`; 1 to 64 characters. */
            trafficSourceId: string | null;
            /** @description Current name of the traffic source; null for an unknown id. */
            trafficSourceName: string | null;
            /** @description Letters, digits, `_ . : -`; 1 to 64 characters. */
            visitorId: string | null;
            /** @description Country code, ISO 3166-1 alpha-2. */
            country: string | null;
            /** @description As sent by the tracker. */
            region: string | null;
            /** @description As sent by the tracker. */
            city: string | null;
            /** @enum {string|null} */
            device: "desktop" | "mobile" | "tablet" | "other" | null;
            /** @description Operating system. */
            os: string | null;
            /** @description Version of the operating system. */
            osVersion: string | null;
            /** @description Browser. */
            browser: string | null;
            /** @description Version of the browser. */
            browserVersion: string | null;
            /** @description `Accept-Language` header, as sent by the browser. */
            language: string | null;
            /** @description URL of the page that linked to the click URL. */
            referrer: string | null;
            /** @description `User-Agent` header, as sent by the browser. */
            userAgent: string | null;
            /** @description IP address with the last octet (IPv4) or the last 80 bits (IPv6) set to zero. */
            ip: string | null;
            subIds: components["schemas"]["SubIds"];
            /** @description Click id of the traffic source, for example a gclid. */
            externalClickId: string | null;
            /** @description utm_source */
            utmSource: string | null;
            /** @description utm_medium */
            utmMedium: string | null;
            /** @description utm_campaign */
            utmCampaign: string | null;
            /** @description utm_term */
            utmTerm: string | null;
            /** @description utm_content */
            utmContent: string | null;
            /** @description At most 6 decimals, in the accompanying currency. */
            cost: number | null;
            /** @description ISO 4217. */
            currency: string | null;
            /** @description `cost` in `baseCurrency`, at the rate imported with the click. */
            costBase: number | null;
            /** @description Currency of the account. */
            baseCurrency: string;
            /** @description Click of a bot: listed here, excluded from stats and reports. */
            isBot: boolean;
            /** @description Test click: listed here, excluded from stats and reports. */
            isTest: boolean;
            /** @description Whether `conversionCount` is above 0. */
            converted: boolean;
            /** @description Number of conversions of this click, of any status, without tests. */
            conversionCount: number;
            /**
             * Format: date-time
             * @description When Tributary stored the row, or this version of it. `updated_since` filters and orders by this field.
             * @example 2026-11-21T03:00:00.000Z
             */
            storedAt: string;
        };
        JourneyEvent: {
            /** @description `event_id`, or a generated UUIDv7. */
            id: string;
            /**
             * @description Kind of the row.
             * @enum {string}
             */
            kind: "event";
            /**
             * Format: date-time
             * @description Equal to `occurredAt`; the rows are in the order of this time.
             * @example 2026-11-21T03:00:00.000Z
             */
            at: string;
            /**
             * @description `server`: sent to `POST /events` or `POST /events/batch`; `browser`: sent by the pixel.
             * @enum {string}
             */
            origin: "server" | "browser";
            /** @description How many times this `event_id` was accepted before, each time more than 24 hours after the last. */
            generation: number;
            /** @description Name of the event. */
            eventName: string;
            /** @description Letters, digits, `_ . : -`; 1 to 64 characters. */
            clickId: string | null;
            /** @description Letters, digits, `_ . : -`; 1 to 64 characters. */
            visitorId: string | null;
            /** @description Campaign of the click, or the named campaign. */
            campaignId: string | null;
            /** @description Current name of the campaign; null for an unknown id. */
            campaignName: string | null;
            /** @description Owner of the campaign. */
            userId: string | null;
            /** @description Number that you define, not revenue. */
            value: number | null;
            /** @description ISO 4217. */
            currency: string | null;
            /** @description Fields that you define. */
            properties: {
                [key: string]: string | number | boolean;
            } | null;
            /**
             * Format: date-time
             * @description Time of the event, clamped.
             * @example 2026-11-21T03:00:00.000Z
             */
            occurredAt: string;
            /**
             * Format: date-time
             * @description When the event was accepted.
             * @example 2026-11-21T03:00:00.000Z
             */
            receivedAt: string;
            /**
             * Format: date-time
             * @description When Tributary stored the event.
             * @example 2026-11-21T03:00:00.000Z
             */
            storedAt: string;
        };
        JourneyConversion: {
            /** @description Letters, digits, `_ . : -`; 1 to 64 characters. */
            id: string;
            /**
             * @description Kind of the row.
             * @enum {string}
             */
            kind: "conversion";
            /**
             * Format: date-time
             * @description Equal to `convertedAt`; the rows are in the order of this time.
             * @example 2026-11-21T03:00:00.000Z
             */
            at: string;
            /** @enum {string} */
            source: "cpa" | "revenue";
            /** @enum {string} */
            status: "approved" | "pending" | "declined" | "hold" | "refunded" | "chargeback";
            /** @description Status in the terms of the sender. */
            externalStatus: string | null;
            /** @description Name of the event, for example purchase. */
            eventName: string | null;
            /**
             * Format: date-time
             * @description RFC 3339, UTC, with milliseconds.
             * @example 2026-11-21T03:00:00.000Z
             */
            convertedAt: string;
            /**
             * Format: date-time
             * @description RFC 3339, UTC, with milliseconds.
             * @example 2026-11-21T03:00:00.000Z
             */
            clickedAt: string | null;
            /**
             * Format: date-time
             * @description RFC 3339, UTC, with milliseconds.
             * @example 2026-11-21T03:00:00.000Z
             */
            createdAt: string;
            /**
             * Format: date-time
             * @description RFC 3339, UTC, with milliseconds.
             * @example 2026-11-21T03:00:00.000Z
             */
            updatedAt: string;
            /** @description Letters, digits, `_ . : -`; 1 to 64 characters. */
            clickId: string | null;
            /** @description Letters, digits, `_ . : -`; 1 to 64 characters. */
            visitorId: string | null;
            /** @description Transaction id of the sender. */
            transactionId: string | null;
            /** @description Letters, digits, `_ . : -`; 1 to 64 characters. */
            campaignId: string | null;
            /** @description Current name of the campaign; null for an unknown id. */
            campaignName: string | null;
            /** @description Letters, digits, `_ . : -`; 1 to 64 characters. */
            offerId: string | null;
            /** @description Current name of the offer; null for an unknown id. */
            offerName: string | null;
            /** @description Letters, digits, `_ . : -`; 1 to 64 characters. */
            landingPageId: string | null;
            /** @description Current name of the landing page; null for an unknown id. */
            landingPageName: string | null;
            /** @description Letters, digits, `_ . : -`; 1 to 64 characters. */
            trafficSourceId: string | null;
            /** @description Current name of the traffic source; null for an unknown id. */
            trafficSourceName: string | null;
            /** @description Country code, ISO 3166-1 alpha-2. */
            country: string | null;
            /** @enum {string|null} */
            device: "desktop" | "mobile" | "tablet" | "other" | null;
            /** @description Operating system. */
            os: string | null;
            /** @description Browser. */
            browser: string | null;
            subIds: components["schemas"]["SubIds"];
            /** @description At most 6 decimals, in the accompanying currency. */
            payout: number | null;
            /** @description At most 6 decimals, in the accompanying currency. */
            revenue: number | null;
            /** @description ISO 4217. */
            currency: string | null;
            /** @description `revenue` in `baseCurrency`, at the rate imported with the conversion. */
            revenueBase: number | null;
            /** @description Currency of the account. */
            baseCurrency: string;
            /** @description Coupon code, as sent. */
            couponCode: string | null;
            /** @description Test conversion: excluded from stats and reports, listed only with `include_test_mode=true`. */
            isTest: boolean;
            /**
             * Format: date-time
             * @description When Tributary stored the row, or this version of it. `updated_since` filters and orders by this field.
             * @example 2026-11-21T03:00:00.000Z
             */
            storedAt: string;
        };
        JourneyRow: components["schemas"]["JourneyClick"] | components["schemas"]["JourneyEvent"] | components["schemas"]["JourneyConversion"];
        EventBatch: {
            /** @description Each event as in `POST /events`; up to 64 KiB each. The body has at most 4 MiB, 128,000 commas, colons and brackets outside texts, and 64 nested levels. */
            events: components["schemas"]["EventInput"][];
        };
        EventBatchResult: {
            /** @description Number of stored events. */
            stored: number;
            /** @description Number of duplicates. */
            deduplicated: number;
            /** @description Number of events above the fair-use ceiling, which are not stored. */
            overCeiling: number;
            /** @description Number of rejected events. */
            rejected: number;
            /** @description One result per event, in their order. */
            results: ({
                /** @description Position of the event in the batch, from 0. Blank NDJSON lines do not count. */
                index: number;
                /** @enum {boolean} */
                accepted: true;
                /** @description With `dry_run=true`: the event as it would be stored, without `id` if it has no `event_id`; null for a duplicate and above the fair-use ceiling. */
                event?: {
                    /** @description `event_id`, or a generated UUIDv7. */
                    id: string | null;
                    /**
                     * @description `server`: sent to `POST /events` or `POST /events/batch`; `browser`: sent by the pixel.
                     * @enum {string}
                     */
                    origin: "server" | "browser";
                    /** @description How many times this `event_id` was accepted before, each time more than 24 hours after the last. */
                    generation: number;
                    /** @description Name of the event. */
                    eventName: string;
                    /** @description Letters, digits, `_ . : -`; 1 to 64 characters. */
                    clickId: string | null;
                    /** @description Letters, digits, `_ . : -`; 1 to 64 characters. */
                    visitorId: string | null;
                    /** @description Campaign of the click, or the named campaign. */
                    campaignId: string | null;
                    /** @description Owner of the campaign. */
                    userId: string | null;
                    /** @description Number that you define, not revenue. */
                    value: number | null;
                    /** @description ISO 4217. */
                    currency: string | null;
                    /** @description Fields that you define. */
                    properties: {
                        [key: string]: string | number | boolean;
                    } | null;
                    /**
                     * Format: date-time
                     * @description Time of the event, clamped.
                     * @example 2026-11-21T03:00:00.000Z
                     */
                    occurredAt: string;
                    /**
                     * Format: date-time
                     * @description When the event was accepted.
                     * @example 2026-11-21T03:00:00.000Z
                     */
                    receivedAt: string;
                } | null;
                /** @description Values that are stored differently from the way they were sent. With `dry_run=true`, and in a batch if there are any; otherwise the header `X-Event-Notes` has the codes. */
                notes?: components["schemas"]["EventNote"][];
            } | {
                /** @description Position of the event in the batch, from 0. Blank NDJSON lines do not count. */
                index: number;
                /** @enum {boolean} */
                accepted: true;
                /** @enum {boolean} */
                deduplicated: true;
                /** @description With `dry_run=true`: the event as it would be stored, without `id` if it has no `event_id`; null for a duplicate and above the fair-use ceiling. */
                event?: {
                    /** @description `event_id`, or a generated UUIDv7. */
                    id: string | null;
                    /**
                     * @description `server`: sent to `POST /events` or `POST /events/batch`; `browser`: sent by the pixel.
                     * @enum {string}
                     */
                    origin: "server" | "browser";
                    /** @description How many times this `event_id` was accepted before, each time more than 24 hours after the last. */
                    generation: number;
                    /** @description Name of the event. */
                    eventName: string;
                    /** @description Letters, digits, `_ . : -`; 1 to 64 characters. */
                    clickId: string | null;
                    /** @description Letters, digits, `_ . : -`; 1 to 64 characters. */
                    visitorId: string | null;
                    /** @description Campaign of the click, or the named campaign. */
                    campaignId: string | null;
                    /** @description Owner of the campaign. */
                    userId: string | null;
                    /** @description Number that you define, not revenue. */
                    value: number | null;
                    /** @description ISO 4217. */
                    currency: string | null;
                    /** @description Fields that you define. */
                    properties: {
                        [key: string]: string | number | boolean;
                    } | null;
                    /**
                     * Format: date-time
                     * @description Time of the event, clamped.
                     * @example 2026-11-21T03:00:00.000Z
                     */
                    occurredAt: string;
                    /**
                     * Format: date-time
                     * @description When the event was accepted.
                     * @example 2026-11-21T03:00:00.000Z
                     */
                    receivedAt: string;
                } | null;
                /** @description Values that are stored differently from the way they were sent. With `dry_run=true`, and in a batch if there are any; otherwise the header `X-Event-Notes` has the codes. */
                notes?: components["schemas"]["EventNote"][];
            } | {
                /** @description Position of the event in the batch, from 0. Blank NDJSON lines do not count. */
                index: number;
                /** @enum {boolean} */
                accepted: true;
                /** @enum {boolean} */
                recorded: false;
                /** @enum {string} */
                reason: "fair_use_ceiling";
                /** @description With `dry_run=true`: the event as it would be stored, without `id` if it has no `event_id`; null for a duplicate and above the fair-use ceiling. */
                event?: {
                    /** @description `event_id`, or a generated UUIDv7. */
                    id: string | null;
                    /**
                     * @description `server`: sent to `POST /events` or `POST /events/batch`; `browser`: sent by the pixel.
                     * @enum {string}
                     */
                    origin: "server" | "browser";
                    /** @description How many times this `event_id` was accepted before, each time more than 24 hours after the last. */
                    generation: number;
                    /** @description Name of the event. */
                    eventName: string;
                    /** @description Letters, digits, `_ . : -`; 1 to 64 characters. */
                    clickId: string | null;
                    /** @description Letters, digits, `_ . : -`; 1 to 64 characters. */
                    visitorId: string | null;
                    /** @description Campaign of the click, or the named campaign. */
                    campaignId: string | null;
                    /** @description Owner of the campaign. */
                    userId: string | null;
                    /** @description Number that you define, not revenue. */
                    value: number | null;
                    /** @description ISO 4217. */
                    currency: string | null;
                    /** @description Fields that you define. */
                    properties: {
                        [key: string]: string | number | boolean;
                    } | null;
                    /**
                     * Format: date-time
                     * @description Time of the event, clamped.
                     * @example 2026-11-21T03:00:00.000Z
                     */
                    occurredAt: string;
                    /**
                     * Format: date-time
                     * @description When the event was accepted.
                     * @example 2026-11-21T03:00:00.000Z
                     */
                    receivedAt: string;
                } | null;
                /** @description Values that are stored differently from the way they were sent. With `dry_run=true`, and in a batch if there are any; otherwise the header `X-Event-Notes` has the codes. */
                notes?: components["schemas"]["EventNote"][];
            } | {
                /** @description Position of the event in the batch, from 0. Blank NDJSON lines do not count. */
                index: number;
                /** @description Error code, as in `POST /events`. */
                error: string;
                /** @description Explanation for a person; the text may change. */
                message: string;
                /** @description Field that caused the error. */
                param?: string;
                /** @description Seconds to wait before the event is sent again, for `rate_limited`. */
                retryAfter?: number;
            })[];
        };
    };
    responses: never;
    parameters: never;
    requestBodies: never;
    headers: {
        /** @description Id of this request; include it in support requests. */
        RequestId: string;
        /** @description Requests per minute that this key may send. */
        RateLimit: number;
        /** @description Requests left in this minute. */
        RateLimitRemaining: number;
        /** @description Seconds until the minute ends. */
        RateLimitReset: number;
        /** @description Seconds to wait before the next attempt. */
        RetryAfter: number;
        /** @description The scheme of the Authorization header. */
        WwwAuthenticate: "ApiKey";
        /** @description Of an export: the `updated_since` that reads all rows which it may have missed. */
        AsOf: string;
        /** @description Of an export or CSV, if rows of its range were removed: the time of the first rows that are left. */
        RetainedFrom: string;
        /** @description Of CSV: the number of all buckets, as `bucketCount`. */
        BucketCount: number;
        /** @description Of CSV: whether there are more buckets than rows, as `truncated`. */
        Truncated: boolean;
        /** @description Values that are stored differently from the way they were sent: codes of notes, each once, separated by commas. `dry_run=true` explains them. Absent if there are none, and in a dry run. `field_ignored`: The body has a field that does not exist. `property_dropped`: A property is above a limit or has an unsupported type. `properties_dropped`: `properties` is not an object, or above its size limit. `currency_ignored`: `currency` is not an uppercase ISO 4217 code. `value_clamped`: `value` is clamped to its range. `timestamp_clamped`: `timestamp` is clamped to its range. `notes_omitted`: The event has more than 20 notes; this one is the last, and `message` has the number of the others. */
        EventNotes: string;
    };
    pathItems: never;
}
export type $defs = Record<string, never>;
export interface operations {
    getClicks: {
        parameters: {
            query?: {
                /** @description Number of rows per page. */
                limit?: number;
                /** @description `nextCursor` of the previous page. It never expires and is valid only with the same filters. */
                cursor?: string;
                /** @description Start of the range, inclusive: a date (00:00 UTC) or an RFC 3339 instant with offset. */
                from?: string;
                /** @description End of the range: a date (the whole day is included, UTC) or an RFC 3339 instant (exclusive). */
                to?: string;
                /** @description `desc` (default): newest first; `asc`: oldest first. With `updated_since` or `updated_after` the order is always `asc`. */
                order?: "asc" | "desc";
                /** @description Only rows that were stored, or stored in a new version, at or after this time; ordered by `storedAt`, oldest first. For incremental sync, pass the `asOf` of the last page of one run as `updated_since` of the next run. */
                updated_since?: string;
                /** @description Like `updated_since`, without rows stored exactly at this time. For incremental sync by rows alone: read all pages with `updated_since=1970-01-01`, then pass the largest `storedAt` of all completed runs. */
                updated_after?: string;
                /** @description Format of the response; overrides the `Accept` header, which accepts `application/x-ndjson`, `text/csv`, `application/vnd.apache.parquet`. */
                format?: "ndjson" | "csv" | "parquet" | "json";
                /** @description CSV only: prefixes text cells that begin with `=`, `+`, `-`, `@`, a tab or a carriage return with `'`, so that spreadsheets do not run them as formulas. */
                csv_escape?: "formulas";
                /** @description Fields of the rows to return, separated by commas; default: all. `id` is always returned, and the order is that of the schema. Exports also have `cursor`. Cursors stay valid with other fields. */
                fields?: string;
                /** @description Only clicks and conversions with this `campaign_id`: one value or up to 100, separated by commas; a leading `!` excludes them. `(not set)` is the empty value; `\,`, `\\` and a leading `\!` are literal characters. */
                campaign_id?: string;
                /** @description Only clicks and conversions with this `offer_id`: one value or up to 100, separated by commas; a leading `!` excludes them. `(not set)` is the empty value; `\,`, `\\` and a leading `\!` are literal characters. */
                offer_id?: string;
                /** @description Only clicks and conversions with this `landing_page_id`: one value or up to 100, separated by commas; a leading `!` excludes them. `(not set)` is the empty value; `\,`, `\\` and a leading `\!` are literal characters. */
                landing_page_id?: string;
                /** @description Only clicks and conversions with this `traffic_source_id`: one value or up to 100, separated by commas; a leading `!` excludes them. `(not set)` is the empty value; `\,`, `\\` and a leading `\!` are literal characters. */
                traffic_source_id?: string;
                /** @description Only clicks and conversions with this `country`: one value or up to 100, separated by commas; a leading `!` excludes them. `(not set)` is the empty value; `\,`, `\\` and a leading `\!` are literal characters. */
                country?: string;
                /** @description Only clicks and conversions with this `region`: one value or up to 100, separated by commas; a leading `!` excludes them. `(not set)` is the empty value; `\,`, `\\` and a leading `\!` are literal characters. */
                region?: string;
                /** @description Only clicks and conversions with this `city`: one value or up to 100, separated by commas; a leading `!` excludes them. `(not set)` is the empty value; `\,`, `\\` and a leading `\!` are literal characters. */
                city?: string;
                /** @description Only clicks and conversions with this `device`: one value or up to 100, separated by commas; a leading `!` excludes them. `(not set)` is the empty value; `\,`, `\\` and a leading `\!` are literal characters. */
                device?: string;
                /** @description Only clicks and conversions with this `os`: one value or up to 100, separated by commas; a leading `!` excludes them. `(not set)` is the empty value; `\,`, `\\` and a leading `\!` are literal characters. */
                os?: string;
                /** @description Only clicks and conversions with this `browser`: one value or up to 100, separated by commas; a leading `!` excludes them. `(not set)` is the empty value; `\,`, `\\` and a leading `\!` are literal characters. */
                browser?: string;
                /** @description Only clicks and conversions with this `language`: one value or up to 100, separated by commas; a leading `!` excludes them. `(not set)` is the empty value; `\,`, `\\` and a leading `\!` are literal characters. */
                language?: string;
                /** @description Only clicks and conversions with this `referrer_domain`: one value or up to 100, separated by commas; a leading `!` excludes them. `(not set)` is the empty value; `\,`, `\\` and a leading `\!` are literal characters. */
                referrer_domain?: string;
                /** @description Only clicks and conversions with this `utm_source`: one value or up to 100, separated by commas; a leading `!` excludes them. `(not set)` is the empty value; `\,`, `\\` and a leading `\!` are literal characters. */
                utm_source?: string;
                /** @description Only clicks and conversions with this `utm_medium`: one value or up to 100, separated by commas; a leading `!` excludes them. `(not set)` is the empty value; `\,`, `\\` and a leading `\!` are literal characters. */
                utm_medium?: string;
                /** @description Only clicks and conversions with this `utm_campaign`: one value or up to 100, separated by commas; a leading `!` excludes them. `(not set)` is the empty value; `\,`, `\\` and a leading `\!` are literal characters. */
                utm_campaign?: string;
                /** @description Only clicks and conversions with this `utm_term`: one value or up to 100, separated by commas; a leading `!` excludes them. `(not set)` is the empty value; `\,`, `\\` and a leading `\!` are literal characters. */
                utm_term?: string;
                /** @description Only clicks and conversions with this `utm_content`: one value or up to 100, separated by commas; a leading `!` excludes them. `(not set)` is the empty value; `\,`, `\\` and a leading `\!` are literal characters. */
                utm_content?: string;
                /** @description Only clicks and conversions with this `sub1`: one value or up to 100, separated by commas; a leading `!` excludes them. `(not set)` is the empty value; `\,`, `\\` and a leading `\!` are literal characters. */
                sub1?: string;
                /** @description Only clicks and conversions with this `sub2`: one value or up to 100, separated by commas; a leading `!` excludes them. `(not set)` is the empty value; `\,`, `\\` and a leading `\!` are literal characters. */
                sub2?: string;
                /** @description Only clicks and conversions with this `sub3`: one value or up to 100, separated by commas; a leading `!` excludes them. `(not set)` is the empty value; `\,`, `\\` and a leading `\!` are literal characters. */
                sub3?: string;
                /** @description Only clicks and conversions with this `sub4`: one value or up to 100, separated by commas; a leading `!` excludes them. `(not set)` is the empty value; `\,`, `\\` and a leading `\!` are literal characters. */
                sub4?: string;
                /** @description Only clicks and conversions with this `sub5`: one value or up to 100, separated by commas; a leading `!` excludes them. `(not set)` is the empty value; `\,`, `\\` and a leading `\!` are literal characters. */
                sub5?: string;
                /** @description Only clicks and conversions with this `sub6`: one value or up to 100, separated by commas; a leading `!` excludes them. `(not set)` is the empty value; `\,`, `\\` and a leading `\!` are literal characters. */
                sub6?: string;
                /** @description Only clicks and conversions with this `sub7`: one value or up to 100, separated by commas; a leading `!` excludes them. `(not set)` is the empty value; `\,`, `\\` and a leading `\!` are literal characters. */
                sub7?: string;
                /** @description Only clicks and conversions with this `sub8`: one value or up to 100, separated by commas; a leading `!` excludes them. `(not set)` is the empty value; `\,`, `\\` and a leading `\!` are literal characters. */
                sub8?: string;
                /** @description Only clicks and conversions with this `sub9`: one value or up to 100, separated by commas; a leading `!` excludes them. `(not set)` is the empty value; `\,`, `\\` and a leading `\!` are literal characters. */
                sub9?: string;
                /** @description Only clicks and conversions with this `sub10`: one value or up to 100, separated by commas; a leading `!` excludes them. `(not set)` is the empty value; `\,`, `\\` and a leading `\!` are literal characters. */
                sub10?: string;
                /** @description Only clicks with this `visitor_id`: one value or up to 100, separated by commas; a leading `!` excludes them. `(not set)` is the empty value; `\,`, `\\` and a leading `\!` are literal characters. */
                visitor_id?: string;
                /** @description `true`: only clicks of bots. `false`: only other clicks. Default: both. */
                is_bot?: boolean;
                /** @description `true`: only test clicks. `false`: only other clicks. Default: both. */
                is_test?: boolean;
                /** @description `true`: only clicks with at least one conversion that is not a test. `false`: only clicks without one. */
                converted?: boolean;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful response. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    "X-RateLimit-Limit": components["headers"]["RateLimit"];
                    "X-RateLimit-Remaining": components["headers"]["RateLimitRemaining"];
                    "X-RateLimit-Reset": components["headers"]["RateLimitReset"];
                    "X-As-Of": components["headers"]["AsOf"];
                    "X-Retained-From": components["headers"]["RetainedFrom"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["Click"][];
                        /** @description Pass it as `cursor` to read the next page; null if and only if `hasMore` is false. */
                        nextCursor: string | null;
                        hasMore: boolean;
                        /**
                         * Format: date-time
                         * @description With `updated_since` or `updated_after`: every version with a `storedAt` before this time is visible; null otherwise. No row is stored with an earlier `storedAt` afterwards, even if a clock is set back, so a sync that continues from here skips no row. It does not change while nothing is stored.
                         */
                        asOf: string | null;
                        /**
                         * Format: date-time
                         * @description Present if the response would need rows from before this time: the account has removed them by its retention. Sums of whole UTC days still count them.
                         * @example 2026-11-21T03:00:00.000Z
                         */
                        retainedFrom?: string;
                    };
                    "application/x-ndjson": string;
                    "text/csv": string;
                    "application/vnd.apache.parquet": string;
                };
            };
            /** @description A parameter is invalid: `invalid_authorization`, `unknown_parameter`, `invalid_limit`, `invalid_cursor`, `invalid_from`, `invalid_to`, `invalid_order`, `invalid_updated_since`, `invalid_updated_after`, `invalid_format`, `invalid_csv_escape`, `invalid_fields`, `invalid_campaign_id`, `invalid_offer_id`, `invalid_landing_page_id`, `invalid_traffic_source_id`, `invalid_country`, `invalid_region`, `invalid_city`, `invalid_device`, `invalid_os`, `invalid_browser`, `invalid_language`, `invalid_referrer_domain`, `invalid_utm_source`, `invalid_utm_medium`, `invalid_utm_campaign`, `invalid_utm_term`, `invalid_utm_content`, `invalid_sub1`, `invalid_sub2`, `invalid_sub3`, `invalid_sub4`, `invalid_sub5`, `invalid_sub6`, `invalid_sub7`, `invalid_sub8`, `invalid_sub9`, `invalid_sub10`, `invalid_visitor_id`, `invalid_is_bot`, `invalid_is_test`, `invalid_converted`, `invalid_date_range`. */
            400: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            /** @description The API key is missing or not valid: `missing_api_key`, `invalid_api_key`, `revoked_api_key`, `expired_api_key`. */
            401: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    "WWW-Authenticate": components["headers"]["WwwAuthenticate"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            /** @description The API key lacks the permission: `insufficient_scope`, `plan_required`. */
            403: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    "X-RateLimit-Limit": components["headers"]["RateLimit"];
                    "X-RateLimit-Remaining": components["headers"]["RateLimitRemaining"];
                    "X-RateLimit-Reset": components["headers"]["RateLimitReset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            /** @description A rate limit is exceeded: `rate_limited`. */
            429: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    "X-RateLimit-Limit": components["headers"]["RateLimit"];
                    "X-RateLimit-Remaining": components["headers"]["RateLimitRemaining"];
                    "X-RateLimit-Reset": components["headers"]["RateLimitReset"];
                    "Retry-After": components["headers"]["RetryAfter"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            /** @description Internal server error: `internal_error`. */
            500: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            /** @description A database is unavailable or the query timed out; retry: `unavailable`, `query_timeout`. */
            503: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    "Retry-After": components["headers"]["RetryAfter"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
        };
    };
    getConversions: {
        parameters: {
            query?: {
                /** @description Number of rows per page. */
                limit?: number;
                /** @description `nextCursor` of the previous page. It never expires and is valid only with the same filters. */
                cursor?: string;
                /** @description Start of the range, inclusive: a date (00:00 UTC) or an RFC 3339 instant with offset. */
                from?: string;
                /** @description End of the range: a date (the whole day is included, UTC) or an RFC 3339 instant (exclusive). */
                to?: string;
                /** @description `desc` (default): newest first; `asc`: oldest first. With `updated_since` or `updated_after` the order is always `asc`. */
                order?: "asc" | "desc";
                /** @description Only rows that were stored, or stored in a new version, at or after this time; ordered by `storedAt`, oldest first. For incremental sync, pass the `asOf` of the last page of one run as `updated_since` of the next run. */
                updated_since?: string;
                /** @description Like `updated_since`, without rows stored exactly at this time. For incremental sync by rows alone: read all pages with `updated_since=1970-01-01`, then pass the largest `storedAt` of all completed runs. */
                updated_after?: string;
                /** @description Format of the response; overrides the `Accept` header, which accepts `application/x-ndjson`, `text/csv`, `application/vnd.apache.parquet`. */
                format?: "ndjson" | "csv" | "parquet" | "json";
                /** @description CSV only: prefixes text cells that begin with `=`, `+`, `-`, `@`, a tab or a carriage return with `'`, so that spreadsheets do not run them as formulas. */
                csv_escape?: "formulas";
                /** @description Fields of the rows to return, separated by commas; default: all. `id` is always returned, and the order is that of the schema. Exports also have `cursor`. Cursors stay valid with other fields. */
                fields?: string;
                /** @description Only clicks and conversions with this `campaign_id`: one value or up to 100, separated by commas; a leading `!` excludes them. `(not set)` is the empty value; `\,`, `\\` and a leading `\!` are literal characters. */
                campaign_id?: string;
                /** @description Only clicks and conversions with this `offer_id`: one value or up to 100, separated by commas; a leading `!` excludes them. `(not set)` is the empty value; `\,`, `\\` and a leading `\!` are literal characters. */
                offer_id?: string;
                /** @description Only clicks and conversions with this `landing_page_id`: one value or up to 100, separated by commas; a leading `!` excludes them. `(not set)` is the empty value; `\,`, `\\` and a leading `\!` are literal characters. */
                landing_page_id?: string;
                /** @description Only clicks and conversions with this `traffic_source_id`: one value or up to 100, separated by commas; a leading `!` excludes them. `(not set)` is the empty value; `\,`, `\\` and a leading `\!` are literal characters. */
                traffic_source_id?: string;
                /** @description Only clicks and conversions with this `country`: one value or up to 100, separated by commas; a leading `!` excludes them. `(not set)` is the empty value; `\,`, `\\` and a leading `\!` are literal characters. */
                country?: string;
                /** @description Only clicks and conversions with this `region`: one value or up to 100, separated by commas; a leading `!` excludes them. `(not set)` is the empty value; `\,`, `\\` and a leading `\!` are literal characters. */
                region?: string;
                /** @description Only clicks and conversions with this `city`: one value or up to 100, separated by commas; a leading `!` excludes them. `(not set)` is the empty value; `\,`, `\\` and a leading `\!` are literal characters. */
                city?: string;
                /** @description Only clicks and conversions with this `device`: one value or up to 100, separated by commas; a leading `!` excludes them. `(not set)` is the empty value; `\,`, `\\` and a leading `\!` are literal characters. */
                device?: string;
                /** @description Only clicks and conversions with this `os`: one value or up to 100, separated by commas; a leading `!` excludes them. `(not set)` is the empty value; `\,`, `\\` and a leading `\!` are literal characters. */
                os?: string;
                /** @description Only clicks and conversions with this `browser`: one value or up to 100, separated by commas; a leading `!` excludes them. `(not set)` is the empty value; `\,`, `\\` and a leading `\!` are literal characters. */
                browser?: string;
                /** @description Only clicks and conversions with this `language`: one value or up to 100, separated by commas; a leading `!` excludes them. `(not set)` is the empty value; `\,`, `\\` and a leading `\!` are literal characters. */
                language?: string;
                /** @description Only clicks and conversions with this `referrer_domain`: one value or up to 100, separated by commas; a leading `!` excludes them. `(not set)` is the empty value; `\,`, `\\` and a leading `\!` are literal characters. */
                referrer_domain?: string;
                /** @description Only clicks and conversions with this `utm_source`: one value or up to 100, separated by commas; a leading `!` excludes them. `(not set)` is the empty value; `\,`, `\\` and a leading `\!` are literal characters. */
                utm_source?: string;
                /** @description Only clicks and conversions with this `utm_medium`: one value or up to 100, separated by commas; a leading `!` excludes them. `(not set)` is the empty value; `\,`, `\\` and a leading `\!` are literal characters. */
                utm_medium?: string;
                /** @description Only clicks and conversions with this `utm_campaign`: one value or up to 100, separated by commas; a leading `!` excludes them. `(not set)` is the empty value; `\,`, `\\` and a leading `\!` are literal characters. */
                utm_campaign?: string;
                /** @description Only clicks and conversions with this `utm_term`: one value or up to 100, separated by commas; a leading `!` excludes them. `(not set)` is the empty value; `\,`, `\\` and a leading `\!` are literal characters. */
                utm_term?: string;
                /** @description Only clicks and conversions with this `utm_content`: one value or up to 100, separated by commas; a leading `!` excludes them. `(not set)` is the empty value; `\,`, `\\` and a leading `\!` are literal characters. */
                utm_content?: string;
                /** @description Only clicks and conversions with this `sub1`: one value or up to 100, separated by commas; a leading `!` excludes them. `(not set)` is the empty value; `\,`, `\\` and a leading `\!` are literal characters. */
                sub1?: string;
                /** @description Only clicks and conversions with this `sub2`: one value or up to 100, separated by commas; a leading `!` excludes them. `(not set)` is the empty value; `\,`, `\\` and a leading `\!` are literal characters. */
                sub2?: string;
                /** @description Only clicks and conversions with this `sub3`: one value or up to 100, separated by commas; a leading `!` excludes them. `(not set)` is the empty value; `\,`, `\\` and a leading `\!` are literal characters. */
                sub3?: string;
                /** @description Only clicks and conversions with this `sub4`: one value or up to 100, separated by commas; a leading `!` excludes them. `(not set)` is the empty value; `\,`, `\\` and a leading `\!` are literal characters. */
                sub4?: string;
                /** @description Only clicks and conversions with this `sub5`: one value or up to 100, separated by commas; a leading `!` excludes them. `(not set)` is the empty value; `\,`, `\\` and a leading `\!` are literal characters. */
                sub5?: string;
                /** @description Only clicks and conversions with this `sub6`: one value or up to 100, separated by commas; a leading `!` excludes them. `(not set)` is the empty value; `\,`, `\\` and a leading `\!` are literal characters. */
                sub6?: string;
                /** @description Only clicks and conversions with this `sub7`: one value or up to 100, separated by commas; a leading `!` excludes them. `(not set)` is the empty value; `\,`, `\\` and a leading `\!` are literal characters. */
                sub7?: string;
                /** @description Only clicks and conversions with this `sub8`: one value or up to 100, separated by commas; a leading `!` excludes them. `(not set)` is the empty value; `\,`, `\\` and a leading `\!` are literal characters. */
                sub8?: string;
                /** @description Only clicks and conversions with this `sub9`: one value or up to 100, separated by commas; a leading `!` excludes them. `(not set)` is the empty value; `\,`, `\\` and a leading `\!` are literal characters. */
                sub9?: string;
                /** @description Only clicks and conversions with this `sub10`: one value or up to 100, separated by commas; a leading `!` excludes them. `(not set)` is the empty value; `\,`, `\\` and a leading `\!` are literal characters. */
                sub10?: string;
                /** @description Only conversions with this `visitor_id`: one value or up to 100, separated by commas; a leading `!` excludes them. `(not set)` is the empty value; `\,`, `\\` and a leading `\!` are literal characters. */
                visitor_id?: string;
                /** @description Only conversions with this `click_id`: one value or up to 100, separated by commas; a leading `!` excludes them. `(not set)` is the empty value; `\,`, `\\` and a leading `\!` are literal characters. */
                click_id?: string;
                /** @description Only conversions with this `event_name`: one value or up to 100, separated by commas; a leading `!` excludes them. `(not set)` is the empty value; `\,`, `\\` and a leading `\!` are literal characters. */
                event_name?: string;
                /** @description Only conversions with this `transaction_id`: one value or up to 100, separated by commas; a leading `!` excludes them. `(not set)` is the empty value; `\,`, `\\` and a leading `\!` are literal characters. */
                transaction_id?: string;
                /** @description Only conversions with one of these current statuses, separated by commas: approved, pending, declined, hold, refunded, chargeback. */
                status?: string;
                /** @description Only conversions of this source. */
                source?: "cpa" | "revenue" | "all";
                /** @description Whether to include test conversions. */
                include_test_mode?: boolean;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful response. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    "X-RateLimit-Limit": components["headers"]["RateLimit"];
                    "X-RateLimit-Remaining": components["headers"]["RateLimitRemaining"];
                    "X-RateLimit-Reset": components["headers"]["RateLimitReset"];
                    "X-As-Of": components["headers"]["AsOf"];
                    "X-Retained-From": components["headers"]["RetainedFrom"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["Conversion"][];
                        /** @description Pass it as `cursor` to read the next page; null if and only if `hasMore` is false. */
                        nextCursor: string | null;
                        hasMore: boolean;
                        /**
                         * Format: date-time
                         * @description With `updated_since` or `updated_after`: every version with a `storedAt` before this time is visible; null otherwise. No row is stored with an earlier `storedAt` afterwards, even if a clock is set back, so a sync that continues from here skips no row. It does not change while nothing is stored.
                         */
                        asOf: string | null;
                    };
                    "application/x-ndjson": string;
                    "text/csv": string;
                    "application/vnd.apache.parquet": string;
                };
            };
            /** @description A parameter is invalid: `invalid_authorization`, `unknown_parameter`, `invalid_limit`, `invalid_cursor`, `invalid_from`, `invalid_to`, `invalid_order`, `invalid_updated_since`, `invalid_updated_after`, `invalid_format`, `invalid_csv_escape`, `invalid_fields`, `invalid_campaign_id`, `invalid_offer_id`, `invalid_landing_page_id`, `invalid_traffic_source_id`, `invalid_country`, `invalid_region`, `invalid_city`, `invalid_device`, `invalid_os`, `invalid_browser`, `invalid_language`, `invalid_referrer_domain`, `invalid_utm_source`, `invalid_utm_medium`, `invalid_utm_campaign`, `invalid_utm_term`, `invalid_utm_content`, `invalid_sub1`, `invalid_sub2`, `invalid_sub3`, `invalid_sub4`, `invalid_sub5`, `invalid_sub6`, `invalid_sub7`, `invalid_sub8`, `invalid_sub9`, `invalid_sub10`, `invalid_visitor_id`, `invalid_click_id`, `invalid_event_name`, `invalid_transaction_id`, `invalid_status`, `invalid_source`, `invalid_include_test_mode`, `invalid_date_range`. */
            400: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            /** @description The API key is missing or not valid: `missing_api_key`, `invalid_api_key`, `revoked_api_key`, `expired_api_key`. */
            401: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    "WWW-Authenticate": components["headers"]["WwwAuthenticate"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            /** @description The API key lacks the permission: `insufficient_scope`, `plan_required`. */
            403: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    "X-RateLimit-Limit": components["headers"]["RateLimit"];
                    "X-RateLimit-Remaining": components["headers"]["RateLimitRemaining"];
                    "X-RateLimit-Reset": components["headers"]["RateLimitReset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            /** @description A rate limit is exceeded: `rate_limited`. */
            429: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    "X-RateLimit-Limit": components["headers"]["RateLimit"];
                    "X-RateLimit-Remaining": components["headers"]["RateLimitRemaining"];
                    "X-RateLimit-Reset": components["headers"]["RateLimitReset"];
                    "Retry-After": components["headers"]["RetryAfter"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            /** @description Internal server error: `internal_error`. */
            500: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            /** @description A database is unavailable or the query timed out; retry: `unavailable`, `query_timeout`. */
            503: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    "Retry-After": components["headers"]["RetryAfter"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
        };
    };
    getCampaigns: {
        parameters: {
            query?: {
                /** @description Number of rows per page. */
                limit?: number;
                /** @description `nextCursor` of the previous page. It never expires and is valid only with the same filters. */
                cursor?: string;
                /** @description Format of the response; overrides the `Accept` header, which accepts `application/x-ndjson`, `text/csv`, `application/vnd.apache.parquet`. */
                format?: "ndjson" | "csv" | "parquet" | "json";
                /** @description CSV only: prefixes text cells that begin with `=`, `+`, `-`, `@`, a tab or a carriage return with `'`, so that spreadsheets do not run them as formulas. */
                csv_escape?: "formulas";
                /** @description Fields of the rows to return, separated by commas; default: all. `id` is always returned, and the order is that of the schema. Exports also have `cursor`. Cursors stay valid with other fields. */
                fields?: string;
                /** @description Only rows with this status. */
                status?: "active" | "paused" | "archived";
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful response. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    "X-RateLimit-Limit": components["headers"]["RateLimit"];
                    "X-RateLimit-Remaining": components["headers"]["RateLimitRemaining"];
                    "X-RateLimit-Reset": components["headers"]["RateLimitReset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["Campaign"][];
                        /** @description Pass it as `cursor` to read the next page; null if and only if `hasMore` is false. */
                        nextCursor: string | null;
                        hasMore: boolean;
                    };
                    "application/x-ndjson": string;
                    "text/csv": string;
                    "application/vnd.apache.parquet": string;
                };
            };
            /** @description A parameter is invalid: `invalid_authorization`, `unknown_parameter`, `invalid_limit`, `invalid_cursor`, `invalid_format`, `invalid_csv_escape`, `invalid_fields`, `invalid_status`. */
            400: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            /** @description The API key is missing or not valid: `missing_api_key`, `invalid_api_key`, `revoked_api_key`, `expired_api_key`. */
            401: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    "WWW-Authenticate": components["headers"]["WwwAuthenticate"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            /** @description The API key lacks the permission: `insufficient_scope`, `plan_required`. */
            403: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    "X-RateLimit-Limit": components["headers"]["RateLimit"];
                    "X-RateLimit-Remaining": components["headers"]["RateLimitRemaining"];
                    "X-RateLimit-Reset": components["headers"]["RateLimitReset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            /** @description A rate limit is exceeded: `rate_limited`. */
            429: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    "X-RateLimit-Limit": components["headers"]["RateLimit"];
                    "X-RateLimit-Remaining": components["headers"]["RateLimitRemaining"];
                    "X-RateLimit-Reset": components["headers"]["RateLimitReset"];
                    "Retry-After": components["headers"]["RetryAfter"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            /** @description Internal server error: `internal_error`. */
            500: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            /** @description A database is unavailable or the query timed out; retry: `unavailable`, `query_timeout`. */
            503: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    "Retry-After": components["headers"]["RetryAfter"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
        };
    };
    getCampaignsById: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Letters, digits, `_ . : -`; 1 to 64 characters. */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful response. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    "X-RateLimit-Limit": components["headers"]["RateLimit"];
                    "X-RateLimit-Remaining": components["headers"]["RateLimitRemaining"];
                    "X-RateLimit-Reset": components["headers"]["RateLimitReset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": WithRequired<components["schemas"]["Campaign"], "id" | "name" | "userId" | "status" | "trafficSourceId" | "trafficSourceName" | "costModel" | "costValue" | "currency" | "tags" | "createdAt" | "updatedAt">;
                };
            };
            /** @description A parameter is invalid: `invalid_authorization`, `unknown_parameter`. */
            400: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            /** @description The API key is missing or not valid: `missing_api_key`, `invalid_api_key`, `revoked_api_key`, `expired_api_key`. */
            401: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    "WWW-Authenticate": components["headers"]["WwwAuthenticate"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            /** @description The API key lacks the permission: `insufficient_scope`, `plan_required`. */
            403: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    "X-RateLimit-Limit": components["headers"]["RateLimit"];
                    "X-RateLimit-Remaining": components["headers"]["RateLimitRemaining"];
                    "X-RateLimit-Reset": components["headers"]["RateLimitReset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            /** @description The account has no such row: `not_found`. */
            404: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    "X-RateLimit-Limit": components["headers"]["RateLimit"];
                    "X-RateLimit-Remaining": components["headers"]["RateLimitRemaining"];
                    "X-RateLimit-Reset": components["headers"]["RateLimitReset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            /** @description A rate limit is exceeded: `rate_limited`. */
            429: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    "X-RateLimit-Limit": components["headers"]["RateLimit"];
                    "X-RateLimit-Remaining": components["headers"]["RateLimitRemaining"];
                    "X-RateLimit-Reset": components["headers"]["RateLimitReset"];
                    "Retry-After": components["headers"]["RetryAfter"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            /** @description Internal server error: `internal_error`. */
            500: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            /** @description A database is unavailable or the query timed out; retry: `unavailable`, `query_timeout`. */
            503: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    "Retry-After": components["headers"]["RetryAfter"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
        };
    };
    getOffers: {
        parameters: {
            query?: {
                /** @description Number of rows per page. */
                limit?: number;
                /** @description `nextCursor` of the previous page. It never expires and is valid only with the same filters. */
                cursor?: string;
                /** @description Format of the response; overrides the `Accept` header, which accepts `application/x-ndjson`, `text/csv`, `application/vnd.apache.parquet`. */
                format?: "ndjson" | "csv" | "parquet" | "json";
                /** @description CSV only: prefixes text cells that begin with `=`, `+`, `-`, `@`, a tab or a carriage return with `'`, so that spreadsheets do not run them as formulas. */
                csv_escape?: "formulas";
                /** @description Fields of the rows to return, separated by commas; default: all. `id` is always returned, and the order is that of the schema. Exports also have `cursor`. Cursors stay valid with other fields. */
                fields?: string;
                /** @description Only rows with this status. */
                status?: "active" | "paused" | "archived";
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful response. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    "X-RateLimit-Limit": components["headers"]["RateLimit"];
                    "X-RateLimit-Remaining": components["headers"]["RateLimitRemaining"];
                    "X-RateLimit-Reset": components["headers"]["RateLimitReset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["Offer"][];
                        /** @description Pass it as `cursor` to read the next page; null if and only if `hasMore` is false. */
                        nextCursor: string | null;
                        hasMore: boolean;
                    };
                    "application/x-ndjson": string;
                    "text/csv": string;
                    "application/vnd.apache.parquet": string;
                };
            };
            /** @description A parameter is invalid: `invalid_authorization`, `unknown_parameter`, `invalid_limit`, `invalid_cursor`, `invalid_format`, `invalid_csv_escape`, `invalid_fields`, `invalid_status`. */
            400: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            /** @description The API key is missing or not valid: `missing_api_key`, `invalid_api_key`, `revoked_api_key`, `expired_api_key`. */
            401: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    "WWW-Authenticate": components["headers"]["WwwAuthenticate"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            /** @description The API key lacks the permission: `insufficient_scope`, `plan_required`. */
            403: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    "X-RateLimit-Limit": components["headers"]["RateLimit"];
                    "X-RateLimit-Remaining": components["headers"]["RateLimitRemaining"];
                    "X-RateLimit-Reset": components["headers"]["RateLimitReset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            /** @description A rate limit is exceeded: `rate_limited`. */
            429: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    "X-RateLimit-Limit": components["headers"]["RateLimit"];
                    "X-RateLimit-Remaining": components["headers"]["RateLimitRemaining"];
                    "X-RateLimit-Reset": components["headers"]["RateLimitReset"];
                    "Retry-After": components["headers"]["RetryAfter"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            /** @description Internal server error: `internal_error`. */
            500: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            /** @description A database is unavailable or the query timed out; retry: `unavailable`, `query_timeout`. */
            503: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    "Retry-After": components["headers"]["RetryAfter"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
        };
    };
    getOffersById: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Letters, digits, `_ . : -`; 1 to 64 characters. */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful response. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    "X-RateLimit-Limit": components["headers"]["RateLimit"];
                    "X-RateLimit-Remaining": components["headers"]["RateLimitRemaining"];
                    "X-RateLimit-Reset": components["headers"]["RateLimitReset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": WithRequired<components["schemas"]["Offer"], "id" | "name" | "status" | "url" | "affiliateNetwork" | "payoutType" | "payout" | "currency" | "countries" | "tags" | "createdAt" | "updatedAt">;
                };
            };
            /** @description A parameter is invalid: `invalid_authorization`, `unknown_parameter`. */
            400: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            /** @description The API key is missing or not valid: `missing_api_key`, `invalid_api_key`, `revoked_api_key`, `expired_api_key`. */
            401: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    "WWW-Authenticate": components["headers"]["WwwAuthenticate"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            /** @description The API key lacks the permission: `insufficient_scope`, `plan_required`. */
            403: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    "X-RateLimit-Limit": components["headers"]["RateLimit"];
                    "X-RateLimit-Remaining": components["headers"]["RateLimitRemaining"];
                    "X-RateLimit-Reset": components["headers"]["RateLimitReset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            /** @description The account has no such row: `not_found`. */
            404: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    "X-RateLimit-Limit": components["headers"]["RateLimit"];
                    "X-RateLimit-Remaining": components["headers"]["RateLimitRemaining"];
                    "X-RateLimit-Reset": components["headers"]["RateLimitReset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            /** @description A rate limit is exceeded: `rate_limited`. */
            429: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    "X-RateLimit-Limit": components["headers"]["RateLimit"];
                    "X-RateLimit-Remaining": components["headers"]["RateLimitRemaining"];
                    "X-RateLimit-Reset": components["headers"]["RateLimitReset"];
                    "Retry-After": components["headers"]["RetryAfter"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            /** @description Internal server error: `internal_error`. */
            500: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            /** @description A database is unavailable or the query timed out; retry: `unavailable`, `query_timeout`. */
            503: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    "Retry-After": components["headers"]["RetryAfter"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
        };
    };
    getLandingPages: {
        parameters: {
            query?: {
                /** @description Number of rows per page. */
                limit?: number;
                /** @description `nextCursor` of the previous page. It never expires and is valid only with the same filters. */
                cursor?: string;
                /** @description Format of the response; overrides the `Accept` header, which accepts `application/x-ndjson`, `text/csv`, `application/vnd.apache.parquet`. */
                format?: "ndjson" | "csv" | "parquet" | "json";
                /** @description CSV only: prefixes text cells that begin with `=`, `+`, `-`, `@`, a tab or a carriage return with `'`, so that spreadsheets do not run them as formulas. */
                csv_escape?: "formulas";
                /** @description Fields of the rows to return, separated by commas; default: all. `id` is always returned, and the order is that of the schema. Exports also have `cursor`. Cursors stay valid with other fields. */
                fields?: string;
                /** @description Only rows with this status. */
                status?: "active" | "paused" | "archived";
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful response. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    "X-RateLimit-Limit": components["headers"]["RateLimit"];
                    "X-RateLimit-Remaining": components["headers"]["RateLimitRemaining"];
                    "X-RateLimit-Reset": components["headers"]["RateLimitReset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["LandingPage"][];
                        /** @description Pass it as `cursor` to read the next page; null if and only if `hasMore` is false. */
                        nextCursor: string | null;
                        hasMore: boolean;
                    };
                    "application/x-ndjson": string;
                    "text/csv": string;
                    "application/vnd.apache.parquet": string;
                };
            };
            /** @description A parameter is invalid: `invalid_authorization`, `unknown_parameter`, `invalid_limit`, `invalid_cursor`, `invalid_format`, `invalid_csv_escape`, `invalid_fields`, `invalid_status`. */
            400: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            /** @description The API key is missing or not valid: `missing_api_key`, `invalid_api_key`, `revoked_api_key`, `expired_api_key`. */
            401: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    "WWW-Authenticate": components["headers"]["WwwAuthenticate"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            /** @description The API key lacks the permission: `insufficient_scope`, `plan_required`. */
            403: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    "X-RateLimit-Limit": components["headers"]["RateLimit"];
                    "X-RateLimit-Remaining": components["headers"]["RateLimitRemaining"];
                    "X-RateLimit-Reset": components["headers"]["RateLimitReset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            /** @description A rate limit is exceeded: `rate_limited`. */
            429: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    "X-RateLimit-Limit": components["headers"]["RateLimit"];
                    "X-RateLimit-Remaining": components["headers"]["RateLimitRemaining"];
                    "X-RateLimit-Reset": components["headers"]["RateLimitReset"];
                    "Retry-After": components["headers"]["RetryAfter"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            /** @description Internal server error: `internal_error`. */
            500: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            /** @description A database is unavailable or the query timed out; retry: `unavailable`, `query_timeout`. */
            503: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    "Retry-After": components["headers"]["RetryAfter"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
        };
    };
    getLandingPagesById: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Letters, digits, `_ . : -`; 1 to 64 characters. */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful response. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    "X-RateLimit-Limit": components["headers"]["RateLimit"];
                    "X-RateLimit-Remaining": components["headers"]["RateLimitRemaining"];
                    "X-RateLimit-Reset": components["headers"]["RateLimitReset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": WithRequired<components["schemas"]["LandingPage"], "id" | "name" | "status" | "url" | "tags" | "createdAt" | "updatedAt">;
                };
            };
            /** @description A parameter is invalid: `invalid_authorization`, `unknown_parameter`. */
            400: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            /** @description The API key is missing or not valid: `missing_api_key`, `invalid_api_key`, `revoked_api_key`, `expired_api_key`. */
            401: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    "WWW-Authenticate": components["headers"]["WwwAuthenticate"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            /** @description The API key lacks the permission: `insufficient_scope`, `plan_required`. */
            403: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    "X-RateLimit-Limit": components["headers"]["RateLimit"];
                    "X-RateLimit-Remaining": components["headers"]["RateLimitRemaining"];
                    "X-RateLimit-Reset": components["headers"]["RateLimitReset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            /** @description The account has no such row: `not_found`. */
            404: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    "X-RateLimit-Limit": components["headers"]["RateLimit"];
                    "X-RateLimit-Remaining": components["headers"]["RateLimitRemaining"];
                    "X-RateLimit-Reset": components["headers"]["RateLimitReset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            /** @description A rate limit is exceeded: `rate_limited`. */
            429: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    "X-RateLimit-Limit": components["headers"]["RateLimit"];
                    "X-RateLimit-Remaining": components["headers"]["RateLimitRemaining"];
                    "X-RateLimit-Reset": components["headers"]["RateLimitReset"];
                    "Retry-After": components["headers"]["RetryAfter"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            /** @description Internal server error: `internal_error`. */
            500: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            /** @description A database is unavailable or the query timed out; retry: `unavailable`, `query_timeout`. */
            503: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    "Retry-After": components["headers"]["RetryAfter"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
        };
    };
    getTrafficSources: {
        parameters: {
            query?: {
                /** @description Number of rows per page. */
                limit?: number;
                /** @description `nextCursor` of the previous page. It never expires and is valid only with the same filters. */
                cursor?: string;
                /** @description Format of the response; overrides the `Accept` header, which accepts `application/x-ndjson`, `text/csv`, `application/vnd.apache.parquet`. */
                format?: "ndjson" | "csv" | "parquet" | "json";
                /** @description CSV only: prefixes text cells that begin with `=`, `+`, `-`, `@`, a tab or a carriage return with `'`, so that spreadsheets do not run them as formulas. */
                csv_escape?: "formulas";
                /** @description Fields of the rows to return, separated by commas; default: all. `id` is always returned, and the order is that of the schema. Exports also have `cursor`. Cursors stay valid with other fields. */
                fields?: string;
                /** @description Only rows with this status. */
                status?: "active" | "paused" | "archived";
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful response. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    "X-RateLimit-Limit": components["headers"]["RateLimit"];
                    "X-RateLimit-Remaining": components["headers"]["RateLimitRemaining"];
                    "X-RateLimit-Reset": components["headers"]["RateLimitReset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["TrafficSource"][];
                        /** @description Pass it as `cursor` to read the next page; null if and only if `hasMore` is false. */
                        nextCursor: string | null;
                        hasMore: boolean;
                    };
                    "application/x-ndjson": string;
                    "text/csv": string;
                    "application/vnd.apache.parquet": string;
                };
            };
            /** @description A parameter is invalid: `invalid_authorization`, `unknown_parameter`, `invalid_limit`, `invalid_cursor`, `invalid_format`, `invalid_csv_escape`, `invalid_fields`, `invalid_status`. */
            400: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            /** @description The API key is missing or not valid: `missing_api_key`, `invalid_api_key`, `revoked_api_key`, `expired_api_key`. */
            401: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    "WWW-Authenticate": components["headers"]["WwwAuthenticate"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            /** @description The API key lacks the permission: `insufficient_scope`, `plan_required`. */
            403: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    "X-RateLimit-Limit": components["headers"]["RateLimit"];
                    "X-RateLimit-Remaining": components["headers"]["RateLimitRemaining"];
                    "X-RateLimit-Reset": components["headers"]["RateLimitReset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            /** @description A rate limit is exceeded: `rate_limited`. */
            429: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    "X-RateLimit-Limit": components["headers"]["RateLimit"];
                    "X-RateLimit-Remaining": components["headers"]["RateLimitRemaining"];
                    "X-RateLimit-Reset": components["headers"]["RateLimitReset"];
                    "Retry-After": components["headers"]["RetryAfter"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            /** @description Internal server error: `internal_error`. */
            500: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            /** @description A database is unavailable or the query timed out; retry: `unavailable`, `query_timeout`. */
            503: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    "Retry-After": components["headers"]["RetryAfter"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
        };
    };
    getTrafficSourcesById: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Letters, digits, `_ . : -`; 1 to 64 characters. */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful response. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    "X-RateLimit-Limit": components["headers"]["RateLimit"];
                    "X-RateLimit-Remaining": components["headers"]["RateLimitRemaining"];
                    "X-RateLimit-Reset": components["headers"]["RateLimitReset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": WithRequired<components["schemas"]["TrafficSource"], "id" | "name" | "status" | "category" | "costModel" | "currency" | "createdAt" | "updatedAt">;
                };
            };
            /** @description A parameter is invalid: `invalid_authorization`, `unknown_parameter`. */
            400: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            /** @description The API key is missing or not valid: `missing_api_key`, `invalid_api_key`, `revoked_api_key`, `expired_api_key`. */
            401: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    "WWW-Authenticate": components["headers"]["WwwAuthenticate"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            /** @description The API key lacks the permission: `insufficient_scope`, `plan_required`. */
            403: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    "X-RateLimit-Limit": components["headers"]["RateLimit"];
                    "X-RateLimit-Remaining": components["headers"]["RateLimitRemaining"];
                    "X-RateLimit-Reset": components["headers"]["RateLimitReset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            /** @description The account has no such row: `not_found`. */
            404: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    "X-RateLimit-Limit": components["headers"]["RateLimit"];
                    "X-RateLimit-Remaining": components["headers"]["RateLimitRemaining"];
                    "X-RateLimit-Reset": components["headers"]["RateLimitReset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            /** @description A rate limit is exceeded: `rate_limited`. */
            429: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    "X-RateLimit-Limit": components["headers"]["RateLimit"];
                    "X-RateLimit-Remaining": components["headers"]["RateLimitRemaining"];
                    "X-RateLimit-Reset": components["headers"]["RateLimitReset"];
                    "Retry-After": components["headers"]["RetryAfter"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            /** @description Internal server error: `internal_error`. */
            500: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            /** @description A database is unavailable or the query timed out; retry: `unavailable`, `query_timeout`. */
            503: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    "Retry-After": components["headers"]["RetryAfter"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
        };
    };
    getConversionsSearch: {
        parameters: {
            query: {
                /** @description Text to find anywhere in a field, ignoring case; 2 to 100 characters after trimming. There are no wildcards. */
                q: string;
                /** @description Fields to search, separated by commas; default: all of id, clickId, transactionId, externalStatus, campaignId, campaignName, offerId, offerName, country, couponCode, visitorId, externalClickId, referrer, sub1, sub2, sub3, sub4, sub5, sub6, sub7, sub8, sub9, sub10. */
                fields?: string;
                /** @description Number of rows per page. */
                limit?: number;
                /** @description `nextCursor` of the previous page. It never expires and is valid only with the same filters. */
                cursor?: string;
                /** @description Start of the range, inclusive: a date (00:00 UTC) or an RFC 3339 instant with offset. */
                from?: string;
                /** @description End of the range: a date (the whole day is included, UTC) or an RFC 3339 instant (exclusive). */
                to?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful response. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    "X-RateLimit-Limit": components["headers"]["RateLimit"];
                    "X-RateLimit-Remaining": components["headers"]["RateLimitRemaining"];
                    "X-RateLimit-Reset": components["headers"]["RateLimitReset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["ConversionMatch"][];
                        /** @description Pass it as `cursor` to read the next page; null if and only if `hasMore` is false. */
                        nextCursor: string | null;
                        hasMore: boolean;
                        /** @description The trimmed search text. */
                        query: string;
                        /** @description Fields that were searched. */
                        searchedFields: string[];
                    };
                };
            };
            /** @description A parameter is invalid: `invalid_authorization`, `unknown_parameter`, `invalid_q`, `invalid_fields`, `invalid_limit`, `invalid_cursor`, `invalid_from`, `invalid_to`, `invalid_date_range`. */
            400: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            /** @description The API key is missing or not valid: `missing_api_key`, `invalid_api_key`, `revoked_api_key`, `expired_api_key`. */
            401: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    "WWW-Authenticate": components["headers"]["WwwAuthenticate"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            /** @description The API key lacks the permission: `insufficient_scope`, `plan_required`. */
            403: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    "X-RateLimit-Limit": components["headers"]["RateLimit"];
                    "X-RateLimit-Remaining": components["headers"]["RateLimitRemaining"];
                    "X-RateLimit-Reset": components["headers"]["RateLimitReset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            /** @description A rate limit is exceeded: `rate_limited`. */
            429: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    "X-RateLimit-Limit": components["headers"]["RateLimit"];
                    "X-RateLimit-Remaining": components["headers"]["RateLimitRemaining"];
                    "X-RateLimit-Reset": components["headers"]["RateLimitReset"];
                    "Retry-After": components["headers"]["RetryAfter"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            /** @description Internal server error: `internal_error`. */
            500: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            /** @description A database is unavailable or the query timed out; retry: `unavailable`, `query_timeout`. */
            503: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    "Retry-After": components["headers"]["RetryAfter"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
        };
    };
    getCampaignsSearch: {
        parameters: {
            query: {
                /** @description Text to find anywhere in a field, ignoring case; 2 to 100 characters after trimming. There are no wildcards. */
                q: string;
                /** @description Fields to search, separated by commas; default: all of id, name, status, tags. */
                fields?: string;
                /** @description Number of rows per page. */
                limit?: number;
                /** @description `nextCursor` of the previous page. It never expires and is valid only with the same filters. */
                cursor?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful response. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    "X-RateLimit-Limit": components["headers"]["RateLimit"];
                    "X-RateLimit-Remaining": components["headers"]["RateLimitRemaining"];
                    "X-RateLimit-Reset": components["headers"]["RateLimitReset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["CampaignMatch"][];
                        /** @description Pass it as `cursor` to read the next page; null if and only if `hasMore` is false. */
                        nextCursor: string | null;
                        hasMore: boolean;
                        /** @description The trimmed search text. */
                        query: string;
                        /** @description Fields that were searched. */
                        searchedFields: string[];
                    };
                };
            };
            /** @description A parameter is invalid: `invalid_authorization`, `unknown_parameter`, `invalid_q`, `invalid_fields`, `invalid_limit`, `invalid_cursor`. */
            400: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            /** @description The API key is missing or not valid: `missing_api_key`, `invalid_api_key`, `revoked_api_key`, `expired_api_key`. */
            401: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    "WWW-Authenticate": components["headers"]["WwwAuthenticate"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            /** @description The API key lacks the permission: `insufficient_scope`, `plan_required`. */
            403: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    "X-RateLimit-Limit": components["headers"]["RateLimit"];
                    "X-RateLimit-Remaining": components["headers"]["RateLimitRemaining"];
                    "X-RateLimit-Reset": components["headers"]["RateLimitReset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            /** @description A rate limit is exceeded: `rate_limited`. */
            429: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    "X-RateLimit-Limit": components["headers"]["RateLimit"];
                    "X-RateLimit-Remaining": components["headers"]["RateLimitRemaining"];
                    "X-RateLimit-Reset": components["headers"]["RateLimitReset"];
                    "Retry-After": components["headers"]["RetryAfter"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            /** @description Internal server error: `internal_error`. */
            500: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            /** @description A database is unavailable or the query timed out; retry: `unavailable`, `query_timeout`. */
            503: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    "Retry-After": components["headers"]["RetryAfter"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
        };
    };
    getStatsOverview: {
        parameters: {
            query?: {
                /** @description Number of days in `tz`, up to and including today. Ignored if `from` is present. */
                days?: number;
                /** @description Start of the range, inclusive: a date (00:00 in `tz`) or an RFC 3339 instant with offset. */
                from?: string;
                /** @description End of the range: a date (the whole day is included, in `tz`) or an RFC 3339 instant (exclusive). */
                to?: string;
                /** @description IANA time zone of days and other units of time. */
                tz?: string;
                /** @description Only clicks and conversions with this `campaign_id`: one value or up to 100, separated by commas; a leading `!` excludes them. `(not set)` is the empty value; `\,`, `\\` and a leading `\!` are literal characters. */
                campaign_id?: string;
                /** @description Only clicks and conversions with this `offer_id`: one value or up to 100, separated by commas; a leading `!` excludes them. `(not set)` is the empty value; `\,`, `\\` and a leading `\!` are literal characters. */
                offer_id?: string;
                /** @description Only clicks and conversions with this `landing_page_id`: one value or up to 100, separated by commas; a leading `!` excludes them. `(not set)` is the empty value; `\,`, `\\` and a leading `\!` are literal characters. */
                landing_page_id?: string;
                /** @description Only clicks and conversions with this `traffic_source_id`: one value or up to 100, separated by commas; a leading `!` excludes them. `(not set)` is the empty value; `\,`, `\\` and a leading `\!` are literal characters. */
                traffic_source_id?: string;
                /** @description Only clicks and conversions with this `country`: one value or up to 100, separated by commas; a leading `!` excludes them. `(not set)` is the empty value; `\,`, `\\` and a leading `\!` are literal characters. */
                country?: string;
                /** @description Only clicks and conversions with this `region`: one value or up to 100, separated by commas; a leading `!` excludes them. `(not set)` is the empty value; `\,`, `\\` and a leading `\!` are literal characters. */
                region?: string;
                /** @description Only clicks and conversions with this `city`: one value or up to 100, separated by commas; a leading `!` excludes them. `(not set)` is the empty value; `\,`, `\\` and a leading `\!` are literal characters. */
                city?: string;
                /** @description Only clicks and conversions with this `device`: one value or up to 100, separated by commas; a leading `!` excludes them. `(not set)` is the empty value; `\,`, `\\` and a leading `\!` are literal characters. */
                device?: string;
                /** @description Only clicks and conversions with this `os`: one value or up to 100, separated by commas; a leading `!` excludes them. `(not set)` is the empty value; `\,`, `\\` and a leading `\!` are literal characters. */
                os?: string;
                /** @description Only clicks and conversions with this `browser`: one value or up to 100, separated by commas; a leading `!` excludes them. `(not set)` is the empty value; `\,`, `\\` and a leading `\!` are literal characters. */
                browser?: string;
                /** @description Only clicks and conversions with this `language`: one value or up to 100, separated by commas; a leading `!` excludes them. `(not set)` is the empty value; `\,`, `\\` and a leading `\!` are literal characters. */
                language?: string;
                /** @description Only clicks and conversions with this `referrer_domain`: one value or up to 100, separated by commas; a leading `!` excludes them. `(not set)` is the empty value; `\,`, `\\` and a leading `\!` are literal characters. */
                referrer_domain?: string;
                /** @description Only clicks and conversions with this `utm_source`: one value or up to 100, separated by commas; a leading `!` excludes them. `(not set)` is the empty value; `\,`, `\\` and a leading `\!` are literal characters. */
                utm_source?: string;
                /** @description Only clicks and conversions with this `utm_medium`: one value or up to 100, separated by commas; a leading `!` excludes them. `(not set)` is the empty value; `\,`, `\\` and a leading `\!` are literal characters. */
                utm_medium?: string;
                /** @description Only clicks and conversions with this `utm_campaign`: one value or up to 100, separated by commas; a leading `!` excludes them. `(not set)` is the empty value; `\,`, `\\` and a leading `\!` are literal characters. */
                utm_campaign?: string;
                /** @description Only clicks and conversions with this `utm_term`: one value or up to 100, separated by commas; a leading `!` excludes them. `(not set)` is the empty value; `\,`, `\\` and a leading `\!` are literal characters. */
                utm_term?: string;
                /** @description Only clicks and conversions with this `utm_content`: one value or up to 100, separated by commas; a leading `!` excludes them. `(not set)` is the empty value; `\,`, `\\` and a leading `\!` are literal characters. */
                utm_content?: string;
                /** @description Only clicks and conversions with this `sub1`: one value or up to 100, separated by commas; a leading `!` excludes them. `(not set)` is the empty value; `\,`, `\\` and a leading `\!` are literal characters. */
                sub1?: string;
                /** @description Only clicks and conversions with this `sub2`: one value or up to 100, separated by commas; a leading `!` excludes them. `(not set)` is the empty value; `\,`, `\\` and a leading `\!` are literal characters. */
                sub2?: string;
                /** @description Only clicks and conversions with this `sub3`: one value or up to 100, separated by commas; a leading `!` excludes them. `(not set)` is the empty value; `\,`, `\\` and a leading `\!` are literal characters. */
                sub3?: string;
                /** @description Only clicks and conversions with this `sub4`: one value or up to 100, separated by commas; a leading `!` excludes them. `(not set)` is the empty value; `\,`, `\\` and a leading `\!` are literal characters. */
                sub4?: string;
                /** @description Only clicks and conversions with this `sub5`: one value or up to 100, separated by commas; a leading `!` excludes them. `(not set)` is the empty value; `\,`, `\\` and a leading `\!` are literal characters. */
                sub5?: string;
                /** @description Only clicks and conversions with this `sub6`: one value or up to 100, separated by commas; a leading `!` excludes them. `(not set)` is the empty value; `\,`, `\\` and a leading `\!` are literal characters. */
                sub6?: string;
                /** @description Only clicks and conversions with this `sub7`: one value or up to 100, separated by commas; a leading `!` excludes them. `(not set)` is the empty value; `\,`, `\\` and a leading `\!` are literal characters. */
                sub7?: string;
                /** @description Only clicks and conversions with this `sub8`: one value or up to 100, separated by commas; a leading `!` excludes them. `(not set)` is the empty value; `\,`, `\\` and a leading `\!` are literal characters. */
                sub8?: string;
                /** @description Only clicks and conversions with this `sub9`: one value or up to 100, separated by commas; a leading `!` excludes them. `(not set)` is the empty value; `\,`, `\\` and a leading `\!` are literal characters. */
                sub9?: string;
                /** @description Only clicks and conversions with this `sub10`: one value or up to 100, separated by commas; a leading `!` excludes them. `(not set)` is the empty value; `\,`, `\\` and a leading `\!` are literal characters. */
                sub10?: string;
                /** @description Adds the metrics of an earlier range as `previous`: the range before of the same length, or the same range of the previous year. If the range includes the present, the earlier range ends at the same local time. */
                compare?: "previous_period" | "previous_year";
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful response. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    "X-RateLimit-Limit": components["headers"]["RateLimit"];
                    "X-RateLimit-Remaining": components["headers"]["RateLimitRemaining"];
                    "X-RateLimit-Reset": components["headers"]["RateLimitReset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["StatsOverview"];
                };
            };
            /** @description The response has not changed since the one with the `ETag` that you sent. */
            304: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    "X-RateLimit-Limit": components["headers"]["RateLimit"];
                    "X-RateLimit-Remaining": components["headers"]["RateLimitRemaining"];
                    "X-RateLimit-Reset": components["headers"]["RateLimitReset"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description A parameter is invalid: `invalid_authorization`, `unknown_parameter`, `invalid_days`, `invalid_from`, `invalid_to`, `invalid_tz`, `invalid_campaign_id`, `invalid_offer_id`, `invalid_landing_page_id`, `invalid_traffic_source_id`, `invalid_country`, `invalid_region`, `invalid_city`, `invalid_device`, `invalid_os`, `invalid_browser`, `invalid_language`, `invalid_referrer_domain`, `invalid_utm_source`, `invalid_utm_medium`, `invalid_utm_campaign`, `invalid_utm_term`, `invalid_utm_content`, `invalid_sub1`, `invalid_sub2`, `invalid_sub3`, `invalid_sub4`, `invalid_sub5`, `invalid_sub6`, `invalid_sub7`, `invalid_sub8`, `invalid_sub9`, `invalid_sub10`, `invalid_compare`, `invalid_date_range`. */
            400: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            /** @description The API key is missing or not valid: `missing_api_key`, `invalid_api_key`, `revoked_api_key`, `expired_api_key`. */
            401: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    "WWW-Authenticate": components["headers"]["WwwAuthenticate"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            /** @description The API key lacks the permission: `insufficient_scope`, `plan_required`. */
            403: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    "X-RateLimit-Limit": components["headers"]["RateLimit"];
                    "X-RateLimit-Remaining": components["headers"]["RateLimitRemaining"];
                    "X-RateLimit-Reset": components["headers"]["RateLimitReset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            /** @description A rate limit is exceeded: `rate_limited`. */
            429: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    "X-RateLimit-Limit": components["headers"]["RateLimit"];
                    "X-RateLimit-Remaining": components["headers"]["RateLimitRemaining"];
                    "X-RateLimit-Reset": components["headers"]["RateLimitReset"];
                    "Retry-After": components["headers"]["RetryAfter"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            /** @description Internal server error: `internal_error`. */
            500: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            /** @description A database is unavailable or the query timed out; retry: `unavailable`, `query_timeout`. */
            503: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    "Retry-After": components["headers"]["RetryAfter"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
        };
    };
    getStatsDaily: {
        parameters: {
            query?: {
                /** @description Number of days in `tz`, up to and including today. Ignored if `from` is present. */
                days?: number;
                /** @description Start of the range, inclusive: a date (00:00 in `tz`) or an RFC 3339 instant with offset. */
                from?: string;
                /** @description End of the range: a date (the whole day is included, in `tz`) or an RFC 3339 instant (exclusive). */
                to?: string;
                /** @description IANA time zone of days and other units of time. */
                tz?: string;
                /** @description Only clicks and conversions with this `campaign_id`: one value or up to 100, separated by commas; a leading `!` excludes them. `(not set)` is the empty value; `\,`, `\\` and a leading `\!` are literal characters. */
                campaign_id?: string;
                /** @description Only clicks and conversions with this `offer_id`: one value or up to 100, separated by commas; a leading `!` excludes them. `(not set)` is the empty value; `\,`, `\\` and a leading `\!` are literal characters. */
                offer_id?: string;
                /** @description Only clicks and conversions with this `landing_page_id`: one value or up to 100, separated by commas; a leading `!` excludes them. `(not set)` is the empty value; `\,`, `\\` and a leading `\!` are literal characters. */
                landing_page_id?: string;
                /** @description Only clicks and conversions with this `traffic_source_id`: one value or up to 100, separated by commas; a leading `!` excludes them. `(not set)` is the empty value; `\,`, `\\` and a leading `\!` are literal characters. */
                traffic_source_id?: string;
                /** @description Only clicks and conversions with this `country`: one value or up to 100, separated by commas; a leading `!` excludes them. `(not set)` is the empty value; `\,`, `\\` and a leading `\!` are literal characters. */
                country?: string;
                /** @description Only clicks and conversions with this `region`: one value or up to 100, separated by commas; a leading `!` excludes them. `(not set)` is the empty value; `\,`, `\\` and a leading `\!` are literal characters. */
                region?: string;
                /** @description Only clicks and conversions with this `city`: one value or up to 100, separated by commas; a leading `!` excludes them. `(not set)` is the empty value; `\,`, `\\` and a leading `\!` are literal characters. */
                city?: string;
                /** @description Only clicks and conversions with this `device`: one value or up to 100, separated by commas; a leading `!` excludes them. `(not set)` is the empty value; `\,`, `\\` and a leading `\!` are literal characters. */
                device?: string;
                /** @description Only clicks and conversions with this `os`: one value or up to 100, separated by commas; a leading `!` excludes them. `(not set)` is the empty value; `\,`, `\\` and a leading `\!` are literal characters. */
                os?: string;
                /** @description Only clicks and conversions with this `browser`: one value or up to 100, separated by commas; a leading `!` excludes them. `(not set)` is the empty value; `\,`, `\\` and a leading `\!` are literal characters. */
                browser?: string;
                /** @description Only clicks and conversions with this `language`: one value or up to 100, separated by commas; a leading `!` excludes them. `(not set)` is the empty value; `\,`, `\\` and a leading `\!` are literal characters. */
                language?: string;
                /** @description Only clicks and conversions with this `referrer_domain`: one value or up to 100, separated by commas; a leading `!` excludes them. `(not set)` is the empty value; `\,`, `\\` and a leading `\!` are literal characters. */
                referrer_domain?: string;
                /** @description Only clicks and conversions with this `utm_source`: one value or up to 100, separated by commas; a leading `!` excludes them. `(not set)` is the empty value; `\,`, `\\` and a leading `\!` are literal characters. */
                utm_source?: string;
                /** @description Only clicks and conversions with this `utm_medium`: one value or up to 100, separated by commas; a leading `!` excludes them. `(not set)` is the empty value; `\,`, `\\` and a leading `\!` are literal characters. */
                utm_medium?: string;
                /** @description Only clicks and conversions with this `utm_campaign`: one value or up to 100, separated by commas; a leading `!` excludes them. `(not set)` is the empty value; `\,`, `\\` and a leading `\!` are literal characters. */
                utm_campaign?: string;
                /** @description Only clicks and conversions with this `utm_term`: one value or up to 100, separated by commas; a leading `!` excludes them. `(not set)` is the empty value; `\,`, `\\` and a leading `\!` are literal characters. */
                utm_term?: string;
                /** @description Only clicks and conversions with this `utm_content`: one value or up to 100, separated by commas; a leading `!` excludes them. `(not set)` is the empty value; `\,`, `\\` and a leading `\!` are literal characters. */
                utm_content?: string;
                /** @description Only clicks and conversions with this `sub1`: one value or up to 100, separated by commas; a leading `!` excludes them. `(not set)` is the empty value; `\,`, `\\` and a leading `\!` are literal characters. */
                sub1?: string;
                /** @description Only clicks and conversions with this `sub2`: one value or up to 100, separated by commas; a leading `!` excludes them. `(not set)` is the empty value; `\,`, `\\` and a leading `\!` are literal characters. */
                sub2?: string;
                /** @description Only clicks and conversions with this `sub3`: one value or up to 100, separated by commas; a leading `!` excludes them. `(not set)` is the empty value; `\,`, `\\` and a leading `\!` are literal characters. */
                sub3?: string;
                /** @description Only clicks and conversions with this `sub4`: one value or up to 100, separated by commas; a leading `!` excludes them. `(not set)` is the empty value; `\,`, `\\` and a leading `\!` are literal characters. */
                sub4?: string;
                /** @description Only clicks and conversions with this `sub5`: one value or up to 100, separated by commas; a leading `!` excludes them. `(not set)` is the empty value; `\,`, `\\` and a leading `\!` are literal characters. */
                sub5?: string;
                /** @description Only clicks and conversions with this `sub6`: one value or up to 100, separated by commas; a leading `!` excludes them. `(not set)` is the empty value; `\,`, `\\` and a leading `\!` are literal characters. */
                sub6?: string;
                /** @description Only clicks and conversions with this `sub7`: one value or up to 100, separated by commas; a leading `!` excludes them. `(not set)` is the empty value; `\,`, `\\` and a leading `\!` are literal characters. */
                sub7?: string;
                /** @description Only clicks and conversions with this `sub8`: one value or up to 100, separated by commas; a leading `!` excludes them. `(not set)` is the empty value; `\,`, `\\` and a leading `\!` are literal characters. */
                sub8?: string;
                /** @description Only clicks and conversions with this `sub9`: one value or up to 100, separated by commas; a leading `!` excludes them. `(not set)` is the empty value; `\,`, `\\` and a leading `\!` are literal characters. */
                sub9?: string;
                /** @description Only clicks and conversions with this `sub10`: one value or up to 100, separated by commas; a leading `!` excludes them. `(not set)` is the empty value; `\,`, `\\` and a leading `\!` are literal characters. */
                sub10?: string;
                /** @description Adds the metrics of an earlier range as `previous`: the range before of the same length, or the same range of the previous year. If the range includes the present, the earlier range ends at the same local time. */
                compare?: "previous_period" | "previous_year";
                /** @description Unit of time of a row, in `tz`. */
                interval?: "hour" | "day" | "week" | "month";
                /** @description Format of the response; overrides the `Accept` header, which accepts `text/csv`. */
                format?: "csv" | "json";
                /** @description CSV only: prefixes text cells that begin with `=`, `+`, `-`, `@`, a tab or a carriage return with `'`, so that spreadsheets do not run them as formulas. */
                csv_escape?: "formulas";
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful response. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    "X-RateLimit-Limit": components["headers"]["RateLimit"];
                    "X-RateLimit-Remaining": components["headers"]["RateLimitRemaining"];
                    "X-RateLimit-Reset": components["headers"]["RateLimitReset"];
                    "X-Retained-From": components["headers"]["RetainedFrom"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["StatsDaily"];
                    "text/csv": string;
                };
            };
            /** @description The response has not changed since the one with the `ETag` that you sent. */
            304: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    "X-RateLimit-Limit": components["headers"]["RateLimit"];
                    "X-RateLimit-Remaining": components["headers"]["RateLimitRemaining"];
                    "X-RateLimit-Reset": components["headers"]["RateLimitReset"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description A parameter is invalid: `invalid_authorization`, `unknown_parameter`, `invalid_days`, `invalid_from`, `invalid_to`, `invalid_tz`, `invalid_campaign_id`, `invalid_offer_id`, `invalid_landing_page_id`, `invalid_traffic_source_id`, `invalid_country`, `invalid_region`, `invalid_city`, `invalid_device`, `invalid_os`, `invalid_browser`, `invalid_language`, `invalid_referrer_domain`, `invalid_utm_source`, `invalid_utm_medium`, `invalid_utm_campaign`, `invalid_utm_term`, `invalid_utm_content`, `invalid_sub1`, `invalid_sub2`, `invalid_sub3`, `invalid_sub4`, `invalid_sub5`, `invalid_sub6`, `invalid_sub7`, `invalid_sub8`, `invalid_sub9`, `invalid_sub10`, `invalid_compare`, `invalid_interval`, `invalid_format`, `invalid_csv_escape`, `invalid_date_range`. */
            400: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            /** @description The API key is missing or not valid: `missing_api_key`, `invalid_api_key`, `revoked_api_key`, `expired_api_key`. */
            401: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    "WWW-Authenticate": components["headers"]["WwwAuthenticate"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            /** @description The API key lacks the permission: `insufficient_scope`, `plan_required`. */
            403: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    "X-RateLimit-Limit": components["headers"]["RateLimit"];
                    "X-RateLimit-Remaining": components["headers"]["RateLimitRemaining"];
                    "X-RateLimit-Reset": components["headers"]["RateLimitReset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            /** @description A rate limit is exceeded: `rate_limited`. */
            429: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    "X-RateLimit-Limit": components["headers"]["RateLimit"];
                    "X-RateLimit-Remaining": components["headers"]["RateLimitRemaining"];
                    "X-RateLimit-Reset": components["headers"]["RateLimitReset"];
                    "Retry-After": components["headers"]["RetryAfter"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            /** @description Internal server error: `internal_error`. */
            500: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            /** @description A database is unavailable or the query timed out; retry: `unavailable`, `query_timeout`. */
            503: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    "Retry-After": components["headers"]["RetryAfter"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
        };
    };
    getReports: {
        parameters: {
            query: {
                /** @description One to three dimensions to group by, separated by commas: one row per combination of values. Dimensions: campaign, country, device, os, browser, offer, landing, traffic_source, region, city, language, os_version, browser_version, referrer_domain, utm_source, utm_medium, utm_campaign, utm_term, utm_content, sub1, sub2, sub3, sub4, sub5, sub6, sub7, sub8, sub9, sub10, day, hour, week, month, hour_of_day, weekday. */
                group_by: string;
                /** @description Number of days in `tz` up to and including today. Ignored if `from` is present. */
                days?: number;
                /** @description Start of the range, inclusive: a date (00:00 in `tz`) or an RFC 3339 instant with offset. */
                from?: string;
                /** @description End of the range: a date (the whole day is included, in `tz`) or an RFC 3339 instant (exclusive). */
                to?: string;
                /** @description IANA time zone of `days`, of dates in `from` and `to`, and of dimensions of time; default UTC. */
                tz?: string;
                /** @description Only clicks and conversions with this `campaign_id`: one value or up to 100, separated by commas; a leading `!` excludes them. `(not set)` is the empty value; `\,`, `\\` and a leading `\!` are literal characters. */
                campaign_id?: string;
                /** @description Only clicks and conversions with this `offer_id`: one value or up to 100, separated by commas; a leading `!` excludes them. `(not set)` is the empty value; `\,`, `\\` and a leading `\!` are literal characters. */
                offer_id?: string;
                /** @description Only clicks and conversions with this `landing_page_id`: one value or up to 100, separated by commas; a leading `!` excludes them. `(not set)` is the empty value; `\,`, `\\` and a leading `\!` are literal characters. */
                landing_page_id?: string;
                /** @description Only clicks and conversions with this `traffic_source_id`: one value or up to 100, separated by commas; a leading `!` excludes them. `(not set)` is the empty value; `\,`, `\\` and a leading `\!` are literal characters. */
                traffic_source_id?: string;
                /** @description Only clicks and conversions with this `country`: one value or up to 100, separated by commas; a leading `!` excludes them. `(not set)` is the empty value; `\,`, `\\` and a leading `\!` are literal characters. */
                country?: string;
                /** @description Only clicks and conversions with this `region`: one value or up to 100, separated by commas; a leading `!` excludes them. `(not set)` is the empty value; `\,`, `\\` and a leading `\!` are literal characters. */
                region?: string;
                /** @description Only clicks and conversions with this `city`: one value or up to 100, separated by commas; a leading `!` excludes them. `(not set)` is the empty value; `\,`, `\\` and a leading `\!` are literal characters. */
                city?: string;
                /** @description Only clicks and conversions with this `device`: one value or up to 100, separated by commas; a leading `!` excludes them. `(not set)` is the empty value; `\,`, `\\` and a leading `\!` are literal characters. */
                device?: string;
                /** @description Only clicks and conversions with this `os`: one value or up to 100, separated by commas; a leading `!` excludes them. `(not set)` is the empty value; `\,`, `\\` and a leading `\!` are literal characters. */
                os?: string;
                /** @description Only clicks and conversions with this `browser`: one value or up to 100, separated by commas; a leading `!` excludes them. `(not set)` is the empty value; `\,`, `\\` and a leading `\!` are literal characters. */
                browser?: string;
                /** @description Only clicks and conversions with this `language`: one value or up to 100, separated by commas; a leading `!` excludes them. `(not set)` is the empty value; `\,`, `\\` and a leading `\!` are literal characters. */
                language?: string;
                /** @description Only clicks and conversions with this `referrer_domain`: one value or up to 100, separated by commas; a leading `!` excludes them. `(not set)` is the empty value; `\,`, `\\` and a leading `\!` are literal characters. */
                referrer_domain?: string;
                /** @description Only clicks and conversions with this `utm_source`: one value or up to 100, separated by commas; a leading `!` excludes them. `(not set)` is the empty value; `\,`, `\\` and a leading `\!` are literal characters. */
                utm_source?: string;
                /** @description Only clicks and conversions with this `utm_medium`: one value or up to 100, separated by commas; a leading `!` excludes them. `(not set)` is the empty value; `\,`, `\\` and a leading `\!` are literal characters. */
                utm_medium?: string;
                /** @description Only clicks and conversions with this `utm_campaign`: one value or up to 100, separated by commas; a leading `!` excludes them. `(not set)` is the empty value; `\,`, `\\` and a leading `\!` are literal characters. */
                utm_campaign?: string;
                /** @description Only clicks and conversions with this `utm_term`: one value or up to 100, separated by commas; a leading `!` excludes them. `(not set)` is the empty value; `\,`, `\\` and a leading `\!` are literal characters. */
                utm_term?: string;
                /** @description Only clicks and conversions with this `utm_content`: one value or up to 100, separated by commas; a leading `!` excludes them. `(not set)` is the empty value; `\,`, `\\` and a leading `\!` are literal characters. */
                utm_content?: string;
                /** @description Only clicks and conversions with this `sub1`: one value or up to 100, separated by commas; a leading `!` excludes them. `(not set)` is the empty value; `\,`, `\\` and a leading `\!` are literal characters. */
                sub1?: string;
                /** @description Only clicks and conversions with this `sub2`: one value or up to 100, separated by commas; a leading `!` excludes them. `(not set)` is the empty value; `\,`, `\\` and a leading `\!` are literal characters. */
                sub2?: string;
                /** @description Only clicks and conversions with this `sub3`: one value or up to 100, separated by commas; a leading `!` excludes them. `(not set)` is the empty value; `\,`, `\\` and a leading `\!` are literal characters. */
                sub3?: string;
                /** @description Only clicks and conversions with this `sub4`: one value or up to 100, separated by commas; a leading `!` excludes them. `(not set)` is the empty value; `\,`, `\\` and a leading `\!` are literal characters. */
                sub4?: string;
                /** @description Only clicks and conversions with this `sub5`: one value or up to 100, separated by commas; a leading `!` excludes them. `(not set)` is the empty value; `\,`, `\\` and a leading `\!` are literal characters. */
                sub5?: string;
                /** @description Only clicks and conversions with this `sub6`: one value or up to 100, separated by commas; a leading `!` excludes them. `(not set)` is the empty value; `\,`, `\\` and a leading `\!` are literal characters. */
                sub6?: string;
                /** @description Only clicks and conversions with this `sub7`: one value or up to 100, separated by commas; a leading `!` excludes them. `(not set)` is the empty value; `\,`, `\\` and a leading `\!` are literal characters. */
                sub7?: string;
                /** @description Only clicks and conversions with this `sub8`: one value or up to 100, separated by commas; a leading `!` excludes them. `(not set)` is the empty value; `\,`, `\\` and a leading `\!` are literal characters. */
                sub8?: string;
                /** @description Only clicks and conversions with this `sub9`: one value or up to 100, separated by commas; a leading `!` excludes them. `(not set)` is the empty value; `\,`, `\\` and a leading `\!` are literal characters. */
                sub9?: string;
                /** @description Only clicks and conversions with this `sub10`: one value or up to 100, separated by commas; a leading `!` excludes them. `(not set)` is the empty value; `\,`, `\\` and a leading `\!` are literal characters. */
                sub10?: string;
                /** @description Order of the rows: `id` or a metric, descending with a leading `-`; default `-clicks`. Equal rows are ordered by id; null ratios are last. */
                sort?: "id" | "-id" | "clicks" | "-clicks" | "conversions" | "-conversions" | "revenue" | "-revenue" | "pendingConversions" | "-pendingConversions" | "holdConversions" | "-holdConversions" | "declinedConversions" | "-declinedConversions" | "refundedConversions" | "-refundedConversions" | "pendingRevenue" | "-pendingRevenue" | "refundedRevenue" | "-refundedRevenue" | "cost" | "-cost" | "profit" | "-profit" | "roi" | "-roi" | "cr" | "-cr" | "epc" | "-epc" | "cpa" | "-cpa" | "cpc" | "-cpc" | "aov" | "-aov";
                /** @description Maximum number of rows. Totals include all buckets. */
                limit?: number;
                /** @description Metrics to return, separated by commas; default: all. Rows and their order do not depend on it. */
                metrics?: string;
                /** @description Adds the metrics of an earlier range as `previous`: the range before of the same length, or the same range of the previous year. If the range includes the present, the earlier range ends at the same local time. */
                compare?: "previous_period" | "previous_year";
                /** @description Format of the response; overrides the `Accept` header, which accepts `text/csv`. */
                format?: "csv" | "json";
                /** @description CSV only: prefixes text cells that begin with `=`, `+`, `-`, `@`, a tab or a carriage return with `'`, so that spreadsheets do not run them as formulas. */
                csv_escape?: "formulas";
                /** @description CSV only: adds a last line with the totals; its first cell is `(total)`. */
                totals?: boolean;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful response. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    "X-RateLimit-Limit": components["headers"]["RateLimit"];
                    "X-RateLimit-Remaining": components["headers"]["RateLimitRemaining"];
                    "X-RateLimit-Reset": components["headers"]["RateLimitReset"];
                    "X-Retained-From": components["headers"]["RetainedFrom"];
                    "X-Bucket-Count": components["headers"]["BucketCount"];
                    "X-Truncated": components["headers"]["Truncated"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Report"];
                    "text/csv": string;
                };
            };
            /** @description The response has not changed since the one with the `ETag` that you sent. */
            304: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    "X-RateLimit-Limit": components["headers"]["RateLimit"];
                    "X-RateLimit-Remaining": components["headers"]["RateLimitRemaining"];
                    "X-RateLimit-Reset": components["headers"]["RateLimitReset"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description A parameter is invalid: `invalid_authorization`, `unknown_parameter`, `invalid_group_by`, `invalid_days`, `invalid_from`, `invalid_to`, `invalid_tz`, `invalid_campaign_id`, `invalid_offer_id`, `invalid_landing_page_id`, `invalid_traffic_source_id`, `invalid_country`, `invalid_region`, `invalid_city`, `invalid_device`, `invalid_os`, `invalid_browser`, `invalid_language`, `invalid_referrer_domain`, `invalid_utm_source`, `invalid_utm_medium`, `invalid_utm_campaign`, `invalid_utm_term`, `invalid_utm_content`, `invalid_sub1`, `invalid_sub2`, `invalid_sub3`, `invalid_sub4`, `invalid_sub5`, `invalid_sub6`, `invalid_sub7`, `invalid_sub8`, `invalid_sub9`, `invalid_sub10`, `invalid_sort`, `invalid_limit`, `invalid_metrics`, `invalid_compare`, `invalid_format`, `invalid_csv_escape`, `invalid_totals`, `invalid_date_range`. */
            400: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            /** @description The API key is missing or not valid: `missing_api_key`, `invalid_api_key`, `revoked_api_key`, `expired_api_key`. */
            401: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    "WWW-Authenticate": components["headers"]["WwwAuthenticate"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            /** @description The API key lacks the permission: `insufficient_scope`, `plan_required`. */
            403: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    "X-RateLimit-Limit": components["headers"]["RateLimit"];
                    "X-RateLimit-Remaining": components["headers"]["RateLimitRemaining"];
                    "X-RateLimit-Reset": components["headers"]["RateLimitReset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            /** @description A rate limit is exceeded: `rate_limited`. */
            429: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    "X-RateLimit-Limit": components["headers"]["RateLimit"];
                    "X-RateLimit-Remaining": components["headers"]["RateLimitRemaining"];
                    "X-RateLimit-Reset": components["headers"]["RateLimitReset"];
                    "Retry-After": components["headers"]["RetryAfter"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            /** @description Internal server error: `internal_error`. */
            500: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            /** @description A database is unavailable or the query timed out; retry: `unavailable`, `query_timeout`. */
            503: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    "Retry-After": components["headers"]["RetryAfter"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
        };
    };
    getUsage: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful response. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    "X-RateLimit-Limit": components["headers"]["RateLimit"];
                    "X-RateLimit-Remaining": components["headers"]["RateLimitRemaining"];
                    "X-RateLimit-Reset": components["headers"]["RateLimitReset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Usage"];
                };
            };
            /** @description The response has not changed since the one with the `ETag` that you sent. */
            304: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    "X-RateLimit-Limit": components["headers"]["RateLimit"];
                    "X-RateLimit-Remaining": components["headers"]["RateLimitRemaining"];
                    "X-RateLimit-Reset": components["headers"]["RateLimitReset"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description A parameter is invalid: `invalid_authorization`, `unknown_parameter`. */
            400: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            /** @description The API key is missing or not valid: `missing_api_key`, `invalid_api_key`, `revoked_api_key`, `expired_api_key`. */
            401: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    "WWW-Authenticate": components["headers"]["WwwAuthenticate"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            /** @description The API key lacks the permission: `insufficient_scope`, `plan_required`. */
            403: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    "X-RateLimit-Limit": components["headers"]["RateLimit"];
                    "X-RateLimit-Remaining": components["headers"]["RateLimitRemaining"];
                    "X-RateLimit-Reset": components["headers"]["RateLimitReset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            /** @description A rate limit is exceeded: `rate_limited`. */
            429: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    "X-RateLimit-Limit": components["headers"]["RateLimit"];
                    "X-RateLimit-Remaining": components["headers"]["RateLimitRemaining"];
                    "X-RateLimit-Reset": components["headers"]["RateLimitReset"];
                    "Retry-After": components["headers"]["RetryAfter"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            /** @description Internal server error: `internal_error`. */
            500: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            /** @description A database is unavailable or the query timed out; retry: `unavailable`, `query_timeout`. */
            503: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    "Retry-After": components["headers"]["RetryAfter"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
        };
    };
    getKey: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful response. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    "X-RateLimit-Limit": components["headers"]["RateLimit"];
                    "X-RateLimit-Remaining": components["headers"]["RateLimitRemaining"];
                    "X-RateLimit-Reset": components["headers"]["RateLimitReset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Key"];
                };
            };
            /** @description A parameter is invalid: `invalid_authorization`, `unknown_parameter`. */
            400: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            /** @description The API key is missing or not valid: `missing_api_key`, `invalid_api_key`, `revoked_api_key`, `expired_api_key`. */
            401: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    "WWW-Authenticate": components["headers"]["WwwAuthenticate"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            /** @description The API key lacks the permission: `insufficient_scope`, `plan_required`. */
            403: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    "X-RateLimit-Limit": components["headers"]["RateLimit"];
                    "X-RateLimit-Remaining": components["headers"]["RateLimitRemaining"];
                    "X-RateLimit-Reset": components["headers"]["RateLimitReset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            /** @description A rate limit is exceeded: `rate_limited`. */
            429: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    "X-RateLimit-Limit": components["headers"]["RateLimit"];
                    "X-RateLimit-Remaining": components["headers"]["RateLimitRemaining"];
                    "X-RateLimit-Reset": components["headers"]["RateLimitReset"];
                    "Retry-After": components["headers"]["RetryAfter"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            /** @description Internal server error: `internal_error`. */
            500: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            /** @description A database is unavailable or the query timed out; retry: `unavailable`, `query_timeout`. */
            503: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    "Retry-After": components["headers"]["RetryAfter"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
        };
    };
    getChecksumsClicks: {
        parameters: {
            query: {
                /** @description First UTC day. */
                from: string;
                /** @description Last UTC day, included; default today. At most 366 days. */
                to?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful response. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    "X-RateLimit-Limit": components["headers"]["RateLimit"];
                    "X-RateLimit-Remaining": components["headers"]["RateLimitRemaining"];
                    "X-RateLimit-Reset": components["headers"]["RateLimitReset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /**
                         * Format: date-time
                         * @description The checksums include the rows with a `storedAt` before this time; later writes get a later `storedAt`. In your copy, compare the rows with a `storedAt` before this time.
                         * @example 2026-11-21T03:00:00.000Z
                         */
                        asOf: string;
                        data: components["schemas"]["ClickChecksum"][];
                        /**
                         * Format: date-time
                         * @description Present if the range begins before this time: the account has removed earlier rows by its retention, and their days are omitted. Your copy may keep them.
                         * @example 2026-11-21T03:00:00.000Z
                         */
                        retainedFrom?: string;
                    };
                };
            };
            /** @description The response has not changed since the one with the `ETag` that you sent. */
            304: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    "X-RateLimit-Limit": components["headers"]["RateLimit"];
                    "X-RateLimit-Remaining": components["headers"]["RateLimitRemaining"];
                    "X-RateLimit-Reset": components["headers"]["RateLimitReset"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description A parameter is invalid: `invalid_authorization`, `unknown_parameter`, `invalid_from`, `invalid_to`, `invalid_date_range`. */
            400: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            /** @description The API key is missing or not valid: `missing_api_key`, `invalid_api_key`, `revoked_api_key`, `expired_api_key`. */
            401: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    "WWW-Authenticate": components["headers"]["WwwAuthenticate"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            /** @description The API key lacks the permission: `insufficient_scope`, `plan_required`. */
            403: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    "X-RateLimit-Limit": components["headers"]["RateLimit"];
                    "X-RateLimit-Remaining": components["headers"]["RateLimitRemaining"];
                    "X-RateLimit-Reset": components["headers"]["RateLimitReset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            /** @description A rate limit is exceeded: `rate_limited`. */
            429: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    "X-RateLimit-Limit": components["headers"]["RateLimit"];
                    "X-RateLimit-Remaining": components["headers"]["RateLimitRemaining"];
                    "X-RateLimit-Reset": components["headers"]["RateLimitReset"];
                    "Retry-After": components["headers"]["RetryAfter"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            /** @description Internal server error: `internal_error`. */
            500: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            /** @description A database is unavailable or the query timed out; retry: `unavailable`, `query_timeout`. */
            503: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    "Retry-After": components["headers"]["RetryAfter"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
        };
    };
    getChecksumsConversions: {
        parameters: {
            query: {
                /** @description First UTC day. */
                from: string;
                /** @description Last UTC day, included; default today. At most 366 days. */
                to?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful response. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    "X-RateLimit-Limit": components["headers"]["RateLimit"];
                    "X-RateLimit-Remaining": components["headers"]["RateLimitRemaining"];
                    "X-RateLimit-Reset": components["headers"]["RateLimitReset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /**
                         * Format: date-time
                         * @description The checksums include the rows with a `storedAt` before this time; later writes get a later `storedAt`. In your copy, compare the rows with a `storedAt` before this time.
                         * @example 2026-11-21T03:00:00.000Z
                         */
                        asOf: string;
                        data: components["schemas"]["ConversionChecksum"][];
                    };
                };
            };
            /** @description The response has not changed since the one with the `ETag` that you sent. */
            304: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    "X-RateLimit-Limit": components["headers"]["RateLimit"];
                    "X-RateLimit-Remaining": components["headers"]["RateLimitRemaining"];
                    "X-RateLimit-Reset": components["headers"]["RateLimitReset"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description A parameter is invalid: `invalid_authorization`, `unknown_parameter`, `invalid_from`, `invalid_to`, `invalid_date_range`. */
            400: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            /** @description The API key is missing or not valid: `missing_api_key`, `invalid_api_key`, `revoked_api_key`, `expired_api_key`. */
            401: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    "WWW-Authenticate": components["headers"]["WwwAuthenticate"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            /** @description The API key lacks the permission: `insufficient_scope`, `plan_required`. */
            403: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    "X-RateLimit-Limit": components["headers"]["RateLimit"];
                    "X-RateLimit-Remaining": components["headers"]["RateLimitRemaining"];
                    "X-RateLimit-Reset": components["headers"]["RateLimitReset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            /** @description A rate limit is exceeded: `rate_limited`. */
            429: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    "X-RateLimit-Limit": components["headers"]["RateLimit"];
                    "X-RateLimit-Remaining": components["headers"]["RateLimitRemaining"];
                    "X-RateLimit-Reset": components["headers"]["RateLimitReset"];
                    "Retry-After": components["headers"]["RetryAfter"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            /** @description Internal server error: `internal_error`. */
            500: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            /** @description A database is unavailable or the query timed out; retry: `unavailable`, `query_timeout`. */
            503: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    "Retry-After": components["headers"]["RetryAfter"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
        };
    };
    getChecksumsEvents: {
        parameters: {
            query: {
                /** @description First UTC day. */
                from: string;
                /** @description Last UTC day, included; default today. At most 366 days. */
                to?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful response. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    "X-RateLimit-Limit": components["headers"]["RateLimit"];
                    "X-RateLimit-Remaining": components["headers"]["RateLimitRemaining"];
                    "X-RateLimit-Reset": components["headers"]["RateLimitReset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /**
                         * Format: date-time
                         * @description The checksums include the rows with a `storedAt` before this time; later writes get a later `storedAt`. In your copy, compare the rows with a `storedAt` before this time.
                         * @example 2026-11-21T03:00:00.000Z
                         */
                        asOf: string;
                        data: components["schemas"]["EventChecksum"][];
                        /**
                         * Format: date-time
                         * @description Present if the range begins before this time: the account has removed earlier rows by its retention, and their days are omitted. Your copy may keep them.
                         * @example 2026-11-21T03:00:00.000Z
                         */
                        retainedFrom?: string;
                    };
                };
            };
            /** @description The response has not changed since the one with the `ETag` that you sent. */
            304: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    "X-RateLimit-Limit": components["headers"]["RateLimit"];
                    "X-RateLimit-Remaining": components["headers"]["RateLimitRemaining"];
                    "X-RateLimit-Reset": components["headers"]["RateLimitReset"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description A parameter is invalid: `invalid_authorization`, `unknown_parameter`, `invalid_from`, `invalid_to`, `invalid_date_range`. */
            400: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            /** @description The API key is missing or not valid: `missing_api_key`, `invalid_api_key`, `revoked_api_key`, `expired_api_key`. */
            401: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    "WWW-Authenticate": components["headers"]["WwwAuthenticate"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            /** @description The API key lacks the permission: `insufficient_scope`, `plan_required`. */
            403: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    "X-RateLimit-Limit": components["headers"]["RateLimit"];
                    "X-RateLimit-Remaining": components["headers"]["RateLimitRemaining"];
                    "X-RateLimit-Reset": components["headers"]["RateLimitReset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            /** @description A rate limit is exceeded: `rate_limited`. */
            429: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    "X-RateLimit-Limit": components["headers"]["RateLimit"];
                    "X-RateLimit-Remaining": components["headers"]["RateLimitRemaining"];
                    "X-RateLimit-Reset": components["headers"]["RateLimitReset"];
                    "Retry-After": components["headers"]["RetryAfter"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            /** @description Internal server error: `internal_error`. */
            500: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            /** @description A database is unavailable or the query timed out; retry: `unavailable`, `query_timeout`. */
            503: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    "Retry-After": components["headers"]["RetryAfter"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
        };
    };
    getEvents: {
        parameters: {
            query?: {
                /** @description Number of rows per page. */
                limit?: number;
                /** @description `nextCursor` of the previous page. It never expires and is valid only with the same filters. */
                cursor?: string;
                /** @description Start of the range, inclusive: a date (00:00 UTC) or an RFC 3339 instant with offset. */
                from?: string;
                /** @description End of the range: a date (the whole day is included, UTC) or an RFC 3339 instant (exclusive). */
                to?: string;
                /** @description `desc` (default): newest first; `asc`: oldest first. With `updated_since` or `updated_after` the order is always `asc`. */
                order?: "asc" | "desc";
                /** @description Only rows that were stored, or stored in a new version, at or after this time; ordered by `storedAt`, oldest first. For incremental sync, pass the `asOf` of the last page of one run as `updated_since` of the next run. */
                updated_since?: string;
                /** @description Like `updated_since`, without rows stored exactly at this time. For incremental sync by rows alone: read all pages with `updated_since=1970-01-01`, then pass the largest `storedAt` of all completed runs. */
                updated_after?: string;
                /** @description Format of the response; overrides the `Accept` header, which accepts `application/x-ndjson`, `text/csv`, `application/vnd.apache.parquet`. */
                format?: "ndjson" | "csv" | "parquet" | "json";
                /** @description CSV only: prefixes text cells that begin with `=`, `+`, `-`, `@`, a tab or a carriage return with `'`, so that spreadsheets do not run them as formulas. */
                csv_escape?: "formulas";
                /** @description Fields of the rows to return, separated by commas; default: all. `id` is always returned, and the order is that of the schema. Exports also have `cursor`. Cursors stay valid with other fields. */
                fields?: string;
                /** @description Only events with one of these names, separated by commas. */
                event_name?: string;
                /** @description Only events of your server, or of the pixel. */
                origin?: "server" | "browser";
                /** @description Only events of this campaign. */
                campaign_id?: string;
                /** @description Only events of this click. */
                click_id?: string;
                /** @description Only events with this visitor id. */
                visitor_id?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful response. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    "X-RateLimit-Limit": components["headers"]["RateLimit"];
                    "X-RateLimit-Remaining": components["headers"]["RateLimitRemaining"];
                    "X-RateLimit-Reset": components["headers"]["RateLimitReset"];
                    "X-As-Of": components["headers"]["AsOf"];
                    "X-Retained-From": components["headers"]["RetainedFrom"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["StoredEvent"][];
                        /** @description Pass it as `cursor` to read the next page; null if and only if `hasMore` is false. */
                        nextCursor: string | null;
                        hasMore: boolean;
                        /**
                         * Format: date-time
                         * @description With `updated_since` or `updated_after`: every event with a `storedAt` before this time is visible, and no event is stored with an earlier one afterwards unless the clock of the store is set back, so read again from a minute before it; null otherwise.
                         */
                        asOf: string | null;
                        /**
                         * Format: date-time
                         * @description Present if the response would need rows from before this time: the account has removed them by its retention. Sums of whole UTC days still count them.
                         * @example 2026-11-21T03:00:00.000Z
                         */
                        retainedFrom?: string;
                    };
                    "application/x-ndjson": string;
                    "text/csv": string;
                    "application/vnd.apache.parquet": string;
                };
            };
            /** @description A parameter is invalid: `invalid_authorization`, `unknown_parameter`, `invalid_limit`, `invalid_cursor`, `invalid_from`, `invalid_to`, `invalid_order`, `invalid_updated_since`, `invalid_updated_after`, `invalid_format`, `invalid_csv_escape`, `invalid_fields`, `invalid_event_name`, `invalid_origin`, `invalid_campaign_id`, `invalid_click_id`, `invalid_visitor_id`, `invalid_date_range`. */
            400: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            /** @description The API key is missing or not valid: `missing_api_key`, `invalid_api_key`, `revoked_api_key`, `expired_api_key`. */
            401: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    "WWW-Authenticate": components["headers"]["WwwAuthenticate"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            /** @description The API key lacks the permission: `insufficient_scope`, `plan_required`. */
            403: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    "X-RateLimit-Limit": components["headers"]["RateLimit"];
                    "X-RateLimit-Remaining": components["headers"]["RateLimitRemaining"];
                    "X-RateLimit-Reset": components["headers"]["RateLimitReset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            /** @description A rate limit is exceeded: `rate_limited`. */
            429: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    "X-RateLimit-Limit": components["headers"]["RateLimit"];
                    "X-RateLimit-Remaining": components["headers"]["RateLimitRemaining"];
                    "X-RateLimit-Reset": components["headers"]["RateLimitReset"];
                    "Retry-After": components["headers"]["RetryAfter"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            /** @description Internal server error: `internal_error`. */
            500: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            /** @description A database is unavailable or the query timed out; retry: `unavailable`, `query_timeout`. */
            503: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    "Retry-After": components["headers"]["RetryAfter"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
        };
    };
    postEvents: {
        parameters: {
            query?: {
                /** @description `true`: validates and decides as usual, stores nothing, and returns the event and notes. Counts against the rate limits. */
                dry_run?: boolean;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["EventInput"];
            };
        };
        responses: {
            /** @description Successful response. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    "X-RateLimit-Limit": components["headers"]["RateLimit"];
                    "X-RateLimit-Remaining": components["headers"]["RateLimitRemaining"];
                    "X-RateLimit-Reset": components["headers"]["RateLimitReset"];
                    "X-Event-Notes": components["headers"]["EventNotes"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @enum {boolean} */
                        accepted: true;
                        /** @description With `dry_run=true`: the event as it would be stored, without `id` if it has no `event_id`; null for a duplicate and above the fair-use ceiling. */
                        event?: {
                            /** @description `event_id`, or a generated UUIDv7. */
                            id: string | null;
                            /**
                             * @description `server`: sent to `POST /events` or `POST /events/batch`; `browser`: sent by the pixel.
                             * @enum {string}
                             */
                            origin: "server" | "browser";
                            /** @description How many times this `event_id` was accepted before, each time more than 24 hours after the last. */
                            generation: number;
                            /** @description Name of the event. */
                            eventName: string;
                            /** @description Letters, digits, `_ . : -`; 1 to 64 characters. */
                            clickId: string | null;
                            /** @description Letters, digits, `_ . : -`; 1 to 64 characters. */
                            visitorId: string | null;
                            /** @description Campaign of the click, or the named campaign. */
                            campaignId: string | null;
                            /** @description Owner of the campaign. */
                            userId: string | null;
                            /** @description Number that you define, not revenue. */
                            value: number | null;
                            /** @description ISO 4217. */
                            currency: string | null;
                            /** @description Fields that you define. */
                            properties: {
                                [key: string]: string | number | boolean;
                            } | null;
                            /**
                             * Format: date-time
                             * @description Time of the event, clamped.
                             * @example 2026-11-21T03:00:00.000Z
                             */
                            occurredAt: string;
                            /**
                             * Format: date-time
                             * @description When the event was accepted.
                             * @example 2026-11-21T03:00:00.000Z
                             */
                            receivedAt: string;
                        } | null;
                        /** @description Values that are stored differently from the way they were sent. With `dry_run=true`, and in a batch if there are any; otherwise the header `X-Event-Notes` has the codes. */
                        notes?: components["schemas"]["EventNote"][];
                    } | {
                        /** @enum {boolean} */
                        accepted: true;
                        /** @enum {boolean} */
                        deduplicated: true;
                        /** @description With `dry_run=true`: the event as it would be stored, without `id` if it has no `event_id`; null for a duplicate and above the fair-use ceiling. */
                        event?: {
                            /** @description `event_id`, or a generated UUIDv7. */
                            id: string | null;
                            /**
                             * @description `server`: sent to `POST /events` or `POST /events/batch`; `browser`: sent by the pixel.
                             * @enum {string}
                             */
                            origin: "server" | "browser";
                            /** @description How many times this `event_id` was accepted before, each time more than 24 hours after the last. */
                            generation: number;
                            /** @description Name of the event. */
                            eventName: string;
                            /** @description Letters, digits, `_ . : -`; 1 to 64 characters. */
                            clickId: string | null;
                            /** @description Letters, digits, `_ . : -`; 1 to 64 characters. */
                            visitorId: string | null;
                            /** @description Campaign of the click, or the named campaign. */
                            campaignId: string | null;
                            /** @description Owner of the campaign. */
                            userId: string | null;
                            /** @description Number that you define, not revenue. */
                            value: number | null;
                            /** @description ISO 4217. */
                            currency: string | null;
                            /** @description Fields that you define. */
                            properties: {
                                [key: string]: string | number | boolean;
                            } | null;
                            /**
                             * Format: date-time
                             * @description Time of the event, clamped.
                             * @example 2026-11-21T03:00:00.000Z
                             */
                            occurredAt: string;
                            /**
                             * Format: date-time
                             * @description When the event was accepted.
                             * @example 2026-11-21T03:00:00.000Z
                             */
                            receivedAt: string;
                        } | null;
                        /** @description Values that are stored differently from the way they were sent. With `dry_run=true`, and in a batch if there are any; otherwise the header `X-Event-Notes` has the codes. */
                        notes?: components["schemas"]["EventNote"][];
                    } | {
                        /** @enum {boolean} */
                        accepted: true;
                        /** @enum {boolean} */
                        recorded: false;
                        /** @enum {string} */
                        reason: "fair_use_ceiling";
                        /** @description With `dry_run=true`: the event as it would be stored, without `id` if it has no `event_id`; null for a duplicate and above the fair-use ceiling. */
                        event?: {
                            /** @description `event_id`, or a generated UUIDv7. */
                            id: string | null;
                            /**
                             * @description `server`: sent to `POST /events` or `POST /events/batch`; `browser`: sent by the pixel.
                             * @enum {string}
                             */
                            origin: "server" | "browser";
                            /** @description How many times this `event_id` was accepted before, each time more than 24 hours after the last. */
                            generation: number;
                            /** @description Name of the event. */
                            eventName: string;
                            /** @description Letters, digits, `_ . : -`; 1 to 64 characters. */
                            clickId: string | null;
                            /** @description Letters, digits, `_ . : -`; 1 to 64 characters. */
                            visitorId: string | null;
                            /** @description Campaign of the click, or the named campaign. */
                            campaignId: string | null;
                            /** @description Owner of the campaign. */
                            userId: string | null;
                            /** @description Number that you define, not revenue. */
                            value: number | null;
                            /** @description ISO 4217. */
                            currency: string | null;
                            /** @description Fields that you define. */
                            properties: {
                                [key: string]: string | number | boolean;
                            } | null;
                            /**
                             * Format: date-time
                             * @description Time of the event, clamped.
                             * @example 2026-11-21T03:00:00.000Z
                             */
                            occurredAt: string;
                            /**
                             * Format: date-time
                             * @description When the event was accepted.
                             * @example 2026-11-21T03:00:00.000Z
                             */
                            receivedAt: string;
                        } | null;
                        /** @description Values that are stored differently from the way they were sent. With `dry_run=true`, and in a batch if there are any; otherwise the header `X-Event-Notes` has the codes. */
                        notes?: components["schemas"]["EventNote"][];
                    };
                };
            };
            /** @description A field is invalid: `invalid_json`, `invalid_body`, `invalid_event_name`, `invalid_click_id`, `invalid_visitor_id`, `missing_identifier`, `invalid_campaign_id`, `invalid_value`, `invalid_event_id`, `invalid_timestamp`, `invalid_dry_run`, `unknown_parameter`. */
            400: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    "X-RateLimit-Limit": components["headers"]["RateLimit"];
                    "X-RateLimit-Remaining": components["headers"]["RateLimitRemaining"];
                    "X-RateLimit-Reset": components["headers"]["RateLimitReset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            /** @description The API key is missing or not valid: `missing_api_key`, `invalid_api_key`, `revoked_api_key`, `expired_api_key`. */
            401: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    "WWW-Authenticate": components["headers"]["WwwAuthenticate"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            /** @description The API key lacks the permission: `insufficient_scope`, `plan_required`. */
            403: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    "X-RateLimit-Limit": components["headers"]["RateLimit"];
                    "X-RateLimit-Remaining": components["headers"]["RateLimitRemaining"];
                    "X-RateLimit-Reset": components["headers"]["RateLimitReset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            /** @description No such click or campaign in the account; a click is found only if the account also has its campaign, so import campaigns first: `click_not_found`, `campaign_not_found`. */
            404: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    "X-RateLimit-Limit": components["headers"]["RateLimit"];
                    "X-RateLimit-Remaining": components["headers"]["RateLimitRemaining"];
                    "X-RateLimit-Reset": components["headers"]["RateLimitReset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            /** @description The body is too large: `payload_too_large`. */
            413: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    "X-RateLimit-Limit": components["headers"]["RateLimit"];
                    "X-RateLimit-Remaining": components["headers"]["RateLimitRemaining"];
                    "X-RateLimit-Reset": components["headers"]["RateLimitReset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            /** @description The body is not JSON: `unsupported_media_type`. */
            415: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    "X-RateLimit-Limit": components["headers"]["RateLimit"];
                    "X-RateLimit-Remaining": components["headers"]["RateLimitRemaining"];
                    "X-RateLimit-Reset": components["headers"]["RateLimitReset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            /** @description A rate limit is exceeded: `rate_limited`. */
            429: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    "X-RateLimit-Limit": components["headers"]["RateLimit"];
                    "X-RateLimit-Remaining": components["headers"]["RateLimitRemaining"];
                    "X-RateLimit-Reset": components["headers"]["RateLimitReset"];
                    "Retry-After": components["headers"]["RetryAfter"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            /** @description Internal server error: `internal_error`. */
            500: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            /** @description Not acknowledged; retry with the same `event_id`. An insert that exceeded its deadline may still be stored: `unavailable`, `query_timeout`. */
            503: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    "Retry-After": components["headers"]["RetryAfter"];
                    "X-RateLimit-Limit": components["headers"]["RateLimit"];
                    "X-RateLimit-Remaining": components["headers"]["RateLimitRemaining"];
                    "X-RateLimit-Reset": components["headers"]["RateLimitReset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
        };
    };
    getEventsById: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description `event_id` of a server event. */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful response. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    "X-RateLimit-Limit": components["headers"]["RateLimit"];
                    "X-RateLimit-Remaining": components["headers"]["RateLimitRemaining"];
                    "X-RateLimit-Reset": components["headers"]["RateLimitReset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": WithRequired<components["schemas"]["StoredEvent"], "id" | "origin" | "generation" | "eventName" | "clickId" | "visitorId" | "campaignId" | "campaignName" | "userId" | "value" | "currency" | "properties" | "occurredAt" | "receivedAt" | "storedAt">;
                };
            };
            /** @description A parameter is invalid: `invalid_authorization`, `unknown_parameter`. */
            400: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            /** @description The API key is missing or not valid: `missing_api_key`, `invalid_api_key`, `revoked_api_key`, `expired_api_key`. */
            401: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    "WWW-Authenticate": components["headers"]["WwwAuthenticate"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            /** @description The API key lacks the permission: `insufficient_scope`, `plan_required`. */
            403: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    "X-RateLimit-Limit": components["headers"]["RateLimit"];
                    "X-RateLimit-Remaining": components["headers"]["RateLimitRemaining"];
                    "X-RateLimit-Reset": components["headers"]["RateLimitReset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            /** @description The account has no such row: `not_found`. */
            404: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    "X-RateLimit-Limit": components["headers"]["RateLimit"];
                    "X-RateLimit-Remaining": components["headers"]["RateLimitRemaining"];
                    "X-RateLimit-Reset": components["headers"]["RateLimitReset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            /** @description A rate limit is exceeded: `rate_limited`. */
            429: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    "X-RateLimit-Limit": components["headers"]["RateLimit"];
                    "X-RateLimit-Remaining": components["headers"]["RateLimitRemaining"];
                    "X-RateLimit-Reset": components["headers"]["RateLimitReset"];
                    "Retry-After": components["headers"]["RetryAfter"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            /** @description Internal server error: `internal_error`. */
            500: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            /** @description A database is unavailable or the query timed out; retry: `unavailable`, `query_timeout`. */
            503: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    "Retry-After": components["headers"]["RetryAfter"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
        };
    };
    getFunnels: {
        parameters: {
            query: {
                /** @description Two to 8 steps, separated by commas: an event name, `click`, or `conversion` (approved conversions). `event:click` is an event with the name click. `click` requires the scope `read:clicks`, `conversion` requires `read:conversions`. */
                steps: string;
                /** @description What is counted. `visitor`: the visitor of the row, else the visitor of its click, else the click. `click`: clicks; events without a click are excluded. */
                by?: "visitor" | "click";
                /** @description Maximum time from the first step to the last, `1h` to `30d`. */
                window?: string;
                /** @description Number of days in `tz` up to and including today. Ignored if `from` is present. */
                days?: number;
                /** @description Start of the range, inclusive: a date (00:00 in `tz`) or an RFC 3339 instant with offset. */
                from?: string;
                /** @description End of the range: a date (the whole day is included, in `tz`) or an RFC 3339 instant (exclusive). */
                to?: string;
                /** @description IANA time zone of days and other units of time. */
                tz?: string;
                /** @description Adds `data`: the funnel for each value, of the row of the first step or its click. */
                group_by?: "campaign" | "country" | "device" | "traffic_source";
                /** @description Only clicks and conversions with this `campaign_id`: one value or up to 100, separated by commas; a leading `!` excludes them. `(not set)` is the empty value; `\,`, `\\` and a leading `\!` are literal characters. */
                campaign_id?: string;
                /** @description Only clicks and conversions with this `offer_id`: one value or up to 100, separated by commas; a leading `!` excludes them. `(not set)` is the empty value; `\,`, `\\` and a leading `\!` are literal characters. */
                offer_id?: string;
                /** @description Only clicks and conversions with this `landing_page_id`: one value or up to 100, separated by commas; a leading `!` excludes them. `(not set)` is the empty value; `\,`, `\\` and a leading `\!` are literal characters. */
                landing_page_id?: string;
                /** @description Only clicks and conversions with this `traffic_source_id`: one value or up to 100, separated by commas; a leading `!` excludes them. `(not set)` is the empty value; `\,`, `\\` and a leading `\!` are literal characters. */
                traffic_source_id?: string;
                /** @description Only clicks and conversions with this `country`: one value or up to 100, separated by commas; a leading `!` excludes them. `(not set)` is the empty value; `\,`, `\\` and a leading `\!` are literal characters. */
                country?: string;
                /** @description Only clicks and conversions with this `region`: one value or up to 100, separated by commas; a leading `!` excludes them. `(not set)` is the empty value; `\,`, `\\` and a leading `\!` are literal characters. */
                region?: string;
                /** @description Only clicks and conversions with this `city`: one value or up to 100, separated by commas; a leading `!` excludes them. `(not set)` is the empty value; `\,`, `\\` and a leading `\!` are literal characters. */
                city?: string;
                /** @description Only clicks and conversions with this `device`: one value or up to 100, separated by commas; a leading `!` excludes them. `(not set)` is the empty value; `\,`, `\\` and a leading `\!` are literal characters. */
                device?: string;
                /** @description Only clicks and conversions with this `os`: one value or up to 100, separated by commas; a leading `!` excludes them. `(not set)` is the empty value; `\,`, `\\` and a leading `\!` are literal characters. */
                os?: string;
                /** @description Only clicks and conversions with this `browser`: one value or up to 100, separated by commas; a leading `!` excludes them. `(not set)` is the empty value; `\,`, `\\` and a leading `\!` are literal characters. */
                browser?: string;
                /** @description Only clicks and conversions with this `language`: one value or up to 100, separated by commas; a leading `!` excludes them. `(not set)` is the empty value; `\,`, `\\` and a leading `\!` are literal characters. */
                language?: string;
                /** @description Only clicks and conversions with this `referrer_domain`: one value or up to 100, separated by commas; a leading `!` excludes them. `(not set)` is the empty value; `\,`, `\\` and a leading `\!` are literal characters. */
                referrer_domain?: string;
                /** @description Only clicks and conversions with this `utm_source`: one value or up to 100, separated by commas; a leading `!` excludes them. `(not set)` is the empty value; `\,`, `\\` and a leading `\!` are literal characters. */
                utm_source?: string;
                /** @description Only clicks and conversions with this `utm_medium`: one value or up to 100, separated by commas; a leading `!` excludes them. `(not set)` is the empty value; `\,`, `\\` and a leading `\!` are literal characters. */
                utm_medium?: string;
                /** @description Only clicks and conversions with this `utm_campaign`: one value or up to 100, separated by commas; a leading `!` excludes them. `(not set)` is the empty value; `\,`, `\\` and a leading `\!` are literal characters. */
                utm_campaign?: string;
                /** @description Only clicks and conversions with this `utm_term`: one value or up to 100, separated by commas; a leading `!` excludes them. `(not set)` is the empty value; `\,`, `\\` and a leading `\!` are literal characters. */
                utm_term?: string;
                /** @description Only clicks and conversions with this `utm_content`: one value or up to 100, separated by commas; a leading `!` excludes them. `(not set)` is the empty value; `\,`, `\\` and a leading `\!` are literal characters. */
                utm_content?: string;
                /** @description Only clicks and conversions with this `sub1`: one value or up to 100, separated by commas; a leading `!` excludes them. `(not set)` is the empty value; `\,`, `\\` and a leading `\!` are literal characters. */
                sub1?: string;
                /** @description Only clicks and conversions with this `sub2`: one value or up to 100, separated by commas; a leading `!` excludes them. `(not set)` is the empty value; `\,`, `\\` and a leading `\!` are literal characters. */
                sub2?: string;
                /** @description Only clicks and conversions with this `sub3`: one value or up to 100, separated by commas; a leading `!` excludes them. `(not set)` is the empty value; `\,`, `\\` and a leading `\!` are literal characters. */
                sub3?: string;
                /** @description Only clicks and conversions with this `sub4`: one value or up to 100, separated by commas; a leading `!` excludes them. `(not set)` is the empty value; `\,`, `\\` and a leading `\!` are literal characters. */
                sub4?: string;
                /** @description Only clicks and conversions with this `sub5`: one value or up to 100, separated by commas; a leading `!` excludes them. `(not set)` is the empty value; `\,`, `\\` and a leading `\!` are literal characters. */
                sub5?: string;
                /** @description Only clicks and conversions with this `sub6`: one value or up to 100, separated by commas; a leading `!` excludes them. `(not set)` is the empty value; `\,`, `\\` and a leading `\!` are literal characters. */
                sub6?: string;
                /** @description Only clicks and conversions with this `sub7`: one value or up to 100, separated by commas; a leading `!` excludes them. `(not set)` is the empty value; `\,`, `\\` and a leading `\!` are literal characters. */
                sub7?: string;
                /** @description Only clicks and conversions with this `sub8`: one value or up to 100, separated by commas; a leading `!` excludes them. `(not set)` is the empty value; `\,`, `\\` and a leading `\!` are literal characters. */
                sub8?: string;
                /** @description Only clicks and conversions with this `sub9`: one value or up to 100, separated by commas; a leading `!` excludes them. `(not set)` is the empty value; `\,`, `\\` and a leading `\!` are literal characters. */
                sub9?: string;
                /** @description Only clicks and conversions with this `sub10`: one value or up to 100, separated by commas; a leading `!` excludes them. `(not set)` is the empty value; `\,`, `\\` and a leading `\!` are literal characters. */
                sub10?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful response. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    "X-RateLimit-Limit": components["headers"]["RateLimit"];
                    "X-RateLimit-Remaining": components["headers"]["RateLimitRemaining"];
                    "X-RateLimit-Reset": components["headers"]["RateLimitReset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Funnel"];
                };
            };
            /** @description The response has not changed since the one with the `ETag` that you sent. */
            304: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    "X-RateLimit-Limit": components["headers"]["RateLimit"];
                    "X-RateLimit-Remaining": components["headers"]["RateLimitRemaining"];
                    "X-RateLimit-Reset": components["headers"]["RateLimitReset"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description A parameter is invalid: `invalid_authorization`, `unknown_parameter`, `invalid_steps`, `invalid_by`, `invalid_window`, `invalid_days`, `invalid_from`, `invalid_to`, `invalid_tz`, `invalid_group_by`, `invalid_campaign_id`, `invalid_offer_id`, `invalid_landing_page_id`, `invalid_traffic_source_id`, `invalid_country`, `invalid_region`, `invalid_city`, `invalid_device`, `invalid_os`, `invalid_browser`, `invalid_language`, `invalid_referrer_domain`, `invalid_utm_source`, `invalid_utm_medium`, `invalid_utm_campaign`, `invalid_utm_term`, `invalid_utm_content`, `invalid_sub1`, `invalid_sub2`, `invalid_sub3`, `invalid_sub4`, `invalid_sub5`, `invalid_sub6`, `invalid_sub7`, `invalid_sub8`, `invalid_sub9`, `invalid_sub10`, `invalid_date_range`. */
            400: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            /** @description The API key is missing or not valid: `missing_api_key`, `invalid_api_key`, `revoked_api_key`, `expired_api_key`. */
            401: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    "WWW-Authenticate": components["headers"]["WwwAuthenticate"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            /** @description The API key lacks the permission: `insufficient_scope`, `plan_required`. */
            403: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    "X-RateLimit-Limit": components["headers"]["RateLimit"];
                    "X-RateLimit-Remaining": components["headers"]["RateLimitRemaining"];
                    "X-RateLimit-Reset": components["headers"]["RateLimitReset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            /** @description A rate limit is exceeded: `rate_limited`. */
            429: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    "X-RateLimit-Limit": components["headers"]["RateLimit"];
                    "X-RateLimit-Remaining": components["headers"]["RateLimitRemaining"];
                    "X-RateLimit-Reset": components["headers"]["RateLimitReset"];
                    "Retry-After": components["headers"]["RetryAfter"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            /** @description Internal server error: `internal_error`. */
            500: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            /** @description A database is unavailable or the query timed out; retry: `unavailable`, `query_timeout`. */
            503: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    "Retry-After": components["headers"]["RetryAfter"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
        };
    };
    getJourneys: {
        parameters: {
            query?: {
                /** @description The journey of this visitor: rows with this visitor id, and the events and conversions of its clicks. Required without `click_id`. */
                visitor_id?: string;
                /** @description The journey of this click: the click, its events and its conversions. Not with `visitor_id`. */
                click_id?: string;
                /** @description Number of rows per page. */
                limit?: number;
                /** @description `nextCursor` of the previous page. It never expires and is valid only with the same filters. */
                cursor?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful response. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    "X-RateLimit-Limit": components["headers"]["RateLimit"];
                    "X-RateLimit-Remaining": components["headers"]["RateLimitRemaining"];
                    "X-RateLimit-Reset": components["headers"]["RateLimitReset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["JourneyRow"][];
                        /** @description Pass it as `cursor` to read the next page; null if and only if `hasMore` is false. */
                        nextCursor: string | null;
                        hasMore: boolean;
                        /** @description Kinds that the API key may not read: `click` requires the scope `read:clicks`, `conversion` requires `read:conversions`. */
                        omitted: ("click" | "event" | "conversion")[];
                        /**
                         * Format: date-time
                         * @description Present if the response would need rows from before this time: the account has removed them by its retention. Sums of whole UTC days still count them.
                         * @example 2026-11-21T03:00:00.000Z
                         */
                        retainedFrom?: string;
                    };
                };
            };
            /** @description A parameter is invalid: `invalid_authorization`, `unknown_parameter`, `invalid_visitor_id`, `invalid_click_id`, `invalid_limit`, `invalid_cursor`. */
            400: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            /** @description The API key is missing or not valid: `missing_api_key`, `invalid_api_key`, `revoked_api_key`, `expired_api_key`. */
            401: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    "WWW-Authenticate": components["headers"]["WwwAuthenticate"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            /** @description The API key lacks the permission: `insufficient_scope`, `plan_required`. */
            403: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    "X-RateLimit-Limit": components["headers"]["RateLimit"];
                    "X-RateLimit-Remaining": components["headers"]["RateLimitRemaining"];
                    "X-RateLimit-Reset": components["headers"]["RateLimitReset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            /** @description A rate limit is exceeded: `rate_limited`. */
            429: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    "X-RateLimit-Limit": components["headers"]["RateLimit"];
                    "X-RateLimit-Remaining": components["headers"]["RateLimitRemaining"];
                    "X-RateLimit-Reset": components["headers"]["RateLimitReset"];
                    "Retry-After": components["headers"]["RetryAfter"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            /** @description Internal server error: `internal_error`. */
            500: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            /** @description A database is unavailable or the query timed out; retry: `unavailable`, `query_timeout`. */
            503: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    "Retry-After": components["headers"]["RetryAfter"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
        };
    };
    postEventsBatch: {
        parameters: {
            query?: {
                /** @description `true`: validates and decides as usual, stores nothing, and returns the event and notes. Counts against the rate limits. */
                dry_run?: boolean;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["EventBatch"];
                "application/x-ndjson": string;
            };
        };
        responses: {
            /** @description Successful response. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    "X-RateLimit-Limit": components["headers"]["RateLimit"];
                    "X-RateLimit-Remaining": components["headers"]["RateLimitRemaining"];
                    "X-RateLimit-Reset": components["headers"]["RateLimitReset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["EventBatchResult"];
                };
            };
            /** @description The batch cannot be read: `invalid_json`, `invalid_body`, `invalid_events`, `invalid_dry_run`, `unknown_parameter`. */
            400: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    "X-RateLimit-Limit": components["headers"]["RateLimit"];
                    "X-RateLimit-Remaining": components["headers"]["RateLimitRemaining"];
                    "X-RateLimit-Reset": components["headers"]["RateLimitReset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            /** @description The API key is missing or not valid: `missing_api_key`, `invalid_api_key`, `revoked_api_key`, `expired_api_key`. */
            401: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    "WWW-Authenticate": components["headers"]["WwwAuthenticate"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            /** @description The API key lacks the permission: `insufficient_scope`, `plan_required`. */
            403: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    "X-RateLimit-Limit": components["headers"]["RateLimit"];
                    "X-RateLimit-Remaining": components["headers"]["RateLimitRemaining"];
                    "X-RateLimit-Reset": components["headers"]["RateLimitReset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            /** @description The body is larger than 4 MiB, has more than 128,000 commas, colons and brackets outside texts, or has more than 64 nested levels: `payload_too_large`. */
            413: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    "X-RateLimit-Limit": components["headers"]["RateLimit"];
                    "X-RateLimit-Remaining": components["headers"]["RateLimitRemaining"];
                    "X-RateLimit-Reset": components["headers"]["RateLimitReset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            /** @description The body is not JSON: `unsupported_media_type`. */
            415: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    "X-RateLimit-Limit": components["headers"]["RateLimit"];
                    "X-RateLimit-Remaining": components["headers"]["RateLimitRemaining"];
                    "X-RateLimit-Reset": components["headers"]["RateLimitReset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            /** @description A rate limit is exceeded: `rate_limited`. */
            429: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    "X-RateLimit-Limit": components["headers"]["RateLimit"];
                    "X-RateLimit-Remaining": components["headers"]["RateLimitRemaining"];
                    "X-RateLimit-Reset": components["headers"]["RateLimitReset"];
                    "Retry-After": components["headers"]["RetryAfter"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            /** @description Internal server error: `internal_error`. */
            500: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            /** @description No event is acknowledged; send the whole batch again. A batch above 256 KiB may have waited too long for its turn: two are read at a time, one per account: `unavailable`, `query_timeout`. */
            503: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    "Retry-After": components["headers"]["RetryAfter"];
                    "X-RateLimit-Limit": components["headers"]["RateLimit"];
                    "X-RateLimit-Remaining": components["headers"]["RateLimitRemaining"];
                    "X-RateLimit-Reset": components["headers"]["RateLimitReset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
        };
    };
}
type WithRequired<T, K extends keyof T> = T & {
    [P in K]-?: T[P];
};
