export interface paths {
    "/clicks": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Clicks, newest first
         * @description Bots and tests are listed and marked; they count nowhere in stats and reports.
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
         * CPA and revenue conversions, newest first
         * @description A conversion that changed its status is listed once, in its latest state. Tests are left out unless asked for.
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
         * Campaigns, newest first
         * @description Scope: `read:campaigns`.
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
         * One campaign
         * @description Scope: `read:campaigns`.
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
         * Offers, newest first
         * @description Scope: `read:offers`.
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
         * One offer
         * @description Scope: `read:offers`.
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
         * Landing pages, newest first
         * @description Scope: `read:landing-pages`.
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
         * One landing page
         * @description Scope: `read:landing-pages`.
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
         * Traffic sources, newest first
         * @description Scope: `read:traffic-sources`.
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
         * One traffic source
         * @description Scope: `read:traffic-sources`.
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
         * Conversions that hold a text, newest first
         * @description Finds the text anywhere in the fields, whatever its case; each row says where. Tests are left out. `externalClickId` and `referrer` are those of the conversion’s click.
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
         * Campaigns that hold a text, newest first
         * @description Finds the text anywhere in the fields, whatever its case; each row says where.
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
         * Totals over the last days, and how many campaigns and the like there are
         * @description Neither bots nor tests count. A conversion belongs to the moment it converted. `resources` counts what is not archived now, whatever the window and filter.
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
         * The same numbers day by day, in any time zone
         * @description One row for every local day, oldest first; days without a click too. Days have the hours that they have in `tz`: 23, 24 or 25.
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
         * Clicks, conversions, money and ratios, grouped by one dimension
         * @description At most 1,000 rows, clicks descending; `totals` and `bucketCount` are over all buckets. Neither bots nor tests count. A conversion belongs to the moment it converted.
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
         * What the account used this month, and what its plan allows
         * @description Months are UTC months. Clicks beyond the allowance are tracked and reported all the same; events beyond the ceiling are not stored.
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
    "/events": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Send a server-side event
         * @description An analytics signal from your back end, stored beside the events of the pixel. It never makes a conversion, and its `value` is no revenue. 200 means that it is stored. After a 503, or no response, retry with the same `event_id`: the event may have been stored all the same, and is then a duplicate.
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
        Campaign: {
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
        };
        Offer: {
            /** @description Letters, digits, `_ . : -`; 1 to 64 characters. */
            id: string;
            name: string;
            /** @enum {string} */
            status: "active" | "paused" | "archived";
            /** @description URL. */
            url: string | null;
            /** @description Affiliate network of the offer. */
            affiliateNetwork: string | null;
            /** @description Payout model, for example cpa. */
            payoutType: string | null;
            /** @description At most 6 decimals, in the accompanying currency. */
            payout: number | null;
            /** @description ISO 4217. */
            currency: string | null;
            /** @description Country codes, ISO 3166-1 alpha-2; an empty list means all countries. */
            countries: string[];
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
        };
        LandingPage: {
            /** @description Letters, digits, `_ . : -`; 1 to 64 characters. */
            id: string;
            name: string;
            /** @enum {string} */
            status: "active" | "paused" | "archived";
            /** @description URL. */
            url: string | null;
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
        };
        TrafficSource: {
            /** @description Letters, digits, `_ . : -`; 1 to 64 characters. */
            id: string;
            name: string;
            /** @enum {string} */
            status: "active" | "paused" | "archived";
            /** @description Category, for example social. */
            category: string | null;
            /** @description Cost model, for example cpc. */
            costModel: string | null;
            /** @description ISO 4217. */
            currency: string | null;
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
                /** @description End of the range: a date (the whole UTC day is included) or an RFC 3339 instant (exclusive). */
                to?: string;
                /** @description `desc` (default): newest first; `asc`: oldest first. With `updated_since` the order is always `asc`. */
                order?: "asc" | "desc";
                /** @description Only rows that were stored, or stored in a new version, at or after this time; ordered by `storedAt`, oldest first. For incremental sync, pass the `asOf` of the last page of one run as `updated_since` of the next run. */
                updated_since?: string;
                /** @description Format of the response; overrides the `Accept` header, which accepts `application/x-ndjson`, `text/csv`, `application/vnd.apache.parquet`. */
                format?: "ndjson" | "csv" | "parquet" | "json";
                /** @description CSV only: prefixes text cells that begin with `=`, `+`, `-`, `@`, a tab or a carriage return with `'`, so that spreadsheets do not run them as formulas. */
                csv_escape?: "formulas";
                /** @description Only clicks of this campaign. */
                campaign_id?: string;
                /** @description Only clicks of this offer. */
                offer_id?: string;
                /** @description `true`: only clicks with at least one conversion that is not a test. `false`: only clicks without one. */
                converted?: boolean;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Clicks, newest first. */
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
                        data: {
                            /** @description Letters, digits, `_ . : -`; 1 to 64 characters. */
                            id: string;
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
                            /** @description Your tracking parameters `sub1` to `sub10`; absent ones are null. */
                            subIds: {
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
                        }[];
                        /** @description Pass it as `cursor` to read the next page; null if and only if `hasMore` is false. */
                        nextCursor: string | null;
                        hasMore: boolean;
                        /**
                         * Format: date-time
                         * @description With `updated_since`: every version with a `storedAt` before this time is visible; null otherwise. No row is stored with an earlier `storedAt` afterwards, even if a clock is set back, so a sync that continues from here skips no row. It does not change while nothing is stored.
                         */
                        asOf: string | null;
                    };
                    "application/x-ndjson": string;
                    "text/csv": string;
                    "application/vnd.apache.parquet": string;
                };
            };
            /** @description A parameter is invalid: `invalid_authorization`, `unknown_parameter`, `invalid_limit`, `invalid_cursor`, `invalid_from`, `invalid_to`, `invalid_order`, `invalid_updated_since`, `invalid_format`, `invalid_csv_escape`, `invalid_campaign_id`, `invalid_offer_id`, `invalid_converted`, `invalid_date_range`. */
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
                /** @description End of the range: a date (the whole UTC day is included) or an RFC 3339 instant (exclusive). */
                to?: string;
                /** @description `desc` (default): newest first; `asc`: oldest first. With `updated_since` the order is always `asc`. */
                order?: "asc" | "desc";
                /** @description Only rows that were stored, or stored in a new version, at or after this time; ordered by `storedAt`, oldest first. For incremental sync, pass the `asOf` of the last page of one run as `updated_since` of the next run. */
                updated_since?: string;
                /** @description Format of the response; overrides the `Accept` header, which accepts `application/x-ndjson`, `text/csv`, `application/vnd.apache.parquet`. */
                format?: "ndjson" | "csv" | "parquet" | "json";
                /** @description CSV only: prefixes text cells that begin with `=`, `+`, `-`, `@`, a tab or a carriage return with `'`, so that spreadsheets do not run them as formulas. */
                csv_escape?: "formulas";
                /** @description Only conversions of this campaign. */
                campaign_id?: string;
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
            /** @description CPA and revenue conversions, newest first. */
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
                        data: {
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
                            /** @description Your tracking parameters `sub1` to `sub10`; absent ones are null. */
                            subIds: {
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
                        }[];
                        /** @description Pass it as `cursor` to read the next page; null if and only if `hasMore` is false. */
                        nextCursor: string | null;
                        hasMore: boolean;
                        /**
                         * Format: date-time
                         * @description With `updated_since`: every version with a `storedAt` before this time is visible; null otherwise. No row is stored with an earlier `storedAt` afterwards, even if a clock is set back, so a sync that continues from here skips no row. It does not change while nothing is stored.
                         */
                        asOf: string | null;
                    };
                    "application/x-ndjson": string;
                    "text/csv": string;
                    "application/vnd.apache.parquet": string;
                };
            };
            /** @description A parameter is invalid: `invalid_authorization`, `unknown_parameter`, `invalid_limit`, `invalid_cursor`, `invalid_from`, `invalid_to`, `invalid_order`, `invalid_updated_since`, `invalid_format`, `invalid_csv_escape`, `invalid_campaign_id`, `invalid_status`, `invalid_source`, `invalid_include_test_mode`, `invalid_date_range`. */
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
                /** @description Only rows with this status. */
                status?: "active" | "paused" | "archived";
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Campaigns, newest first. */
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
                };
            };
            /** @description A parameter is invalid: `invalid_authorization`, `unknown_parameter`, `invalid_limit`, `invalid_cursor`, `invalid_status`. */
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
            /** @description One campaign. */
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
                    };
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
                /** @description Only rows with this status. */
                status?: "active" | "paused" | "archived";
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Offers, newest first. */
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
                };
            };
            /** @description A parameter is invalid: `invalid_authorization`, `unknown_parameter`, `invalid_limit`, `invalid_cursor`, `invalid_status`. */
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
            /** @description One offer. */
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
                        /** @description Letters, digits, `_ . : -`; 1 to 64 characters. */
                        id: string;
                        name: string;
                        /** @enum {string} */
                        status: "active" | "paused" | "archived";
                        /** @description URL. */
                        url: string | null;
                        /** @description Affiliate network of the offer. */
                        affiliateNetwork: string | null;
                        /** @description Payout model, for example cpa. */
                        payoutType: string | null;
                        /** @description At most 6 decimals, in the accompanying currency. */
                        payout: number | null;
                        /** @description ISO 4217. */
                        currency: string | null;
                        /** @description Country codes, ISO 3166-1 alpha-2; an empty list means all countries. */
                        countries: string[];
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
                    };
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
                /** @description Only rows with this status. */
                status?: "active" | "paused" | "archived";
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Landing pages, newest first. */
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
                };
            };
            /** @description A parameter is invalid: `invalid_authorization`, `unknown_parameter`, `invalid_limit`, `invalid_cursor`, `invalid_status`. */
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
            /** @description One landing page. */
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
                        /** @description Letters, digits, `_ . : -`; 1 to 64 characters. */
                        id: string;
                        name: string;
                        /** @enum {string} */
                        status: "active" | "paused" | "archived";
                        /** @description URL. */
                        url: string | null;
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
                    };
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
                /** @description Only rows with this status. */
                status?: "active" | "paused" | "archived";
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Traffic sources, newest first. */
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
                };
            };
            /** @description A parameter is invalid: `invalid_authorization`, `unknown_parameter`, `invalid_limit`, `invalid_cursor`, `invalid_status`. */
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
            /** @description One traffic source. */
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
                        /** @description Letters, digits, `_ . : -`; 1 to 64 characters. */
                        id: string;
                        name: string;
                        /** @enum {string} */
                        status: "active" | "paused" | "archived";
                        /** @description Category, for example social. */
                        category: string | null;
                        /** @description Cost model, for example cpc. */
                        costModel: string | null;
                        /** @description ISO 4217. */
                        currency: string | null;
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
                    };
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
                /** @description End of the range: a date (the whole UTC day is included) or an RFC 3339 instant (exclusive). */
                to?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Conversions that hold a text, newest first. */
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
                        data: {
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
                            /** @description Your tracking parameters `sub1` to `sub10`; absent ones are null. */
                            subIds: {
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
                            matches: {
                                /** @description Field that contains the text. */
                                field: string;
                                /** @description Value of the field. */
                                value: string;
                            }[];
                        }[];
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
            /** @description Campaigns that hold a text, newest first. */
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
                        data: {
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
                            matches: {
                                /** @description Field that contains the text. */
                                field: string;
                                /** @description Value of the field. */
                                value: string;
                            }[];
                        }[];
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
                /** @description Number of days in `tz`, up to and including today. */
                days?: number;
                /** @description IANA time zone of the days. */
                tz?: string;
                /** @description Only clicks and conversions of this campaign. */
                campaign_id?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Totals over the last days, and how many campaigns and the like there are. */
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
                        totals: {
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
                         * @description RFC 3339, UTC, with milliseconds.
                         * @example 2026-11-21T03:00:00.000Z
                         */
                        asOf: string;
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
            /** @description A parameter is invalid: `invalid_authorization`, `unknown_parameter`, `invalid_days`, `invalid_tz`, `invalid_campaign_id`. */
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
                /** @description Number of days in `tz`, up to and including today. */
                days?: number;
                /** @description IANA time zone of the days. */
                tz?: string;
                /** @description Only clicks and conversions of this campaign. */
                campaign_id?: string;
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
            /** @description The same numbers day by day, in any time zone. */
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
                        /** @description Every local day, oldest first, including days without clicks. */
                        data: {
                            /**
                             * Format: date
                             * @description Date of the local day.
                             */
                            id: string;
                            /**
                             * Format: date
                             * @description Same as `id`.
                             */
                            date: string;
                            /** @description Whether the day is over. Its metrics can still change when a conversion is approved or refunded later. */
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
                        }[];
                        /**
                         * Format: date-time
                         * @description RFC 3339, UTC, with milliseconds.
                         * @example 2026-11-21T03:00:00.000Z
                         */
                        asOf: string;
                    };
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
            /** @description A parameter is invalid: `invalid_authorization`, `unknown_parameter`, `invalid_days`, `invalid_tz`, `invalid_campaign_id`, `invalid_format`, `invalid_csv_escape`. */
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
                /** @description Dimension to group by: one row per value. */
                group_by: "campaign" | "country" | "device" | "os" | "browser" | "offer" | "landing" | "traffic_source" | "day";
                /** @description Number of UTC days up to and including today. Ignored if `from` is present. */
                days?: number;
                /** @description Start of the range, inclusive: a date (00:00 UTC) or an RFC 3339 instant with offset. */
                from?: string;
                /** @description End of the range: a date (the whole UTC day is included) or an RFC 3339 instant (exclusive). */
                to?: string;
                /** @description Only clicks and conversions of this campaign. */
                campaign_id?: string;
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
            /** @description Clicks, conversions, money and ratios, grouped by one dimension. */
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
                        /** @enum {string} */
                        groupBy: "campaign" | "country" | "device" | "os" | "browser" | "offer" | "landing" | "traffic_source" | "day";
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
                        /** @description ISO 4217. */
                        currency: string;
                        /** @description Ordered by clicks, descending, then by id. */
                        data: {
                            /** @description Value of the dimension: a campaign id, a country code, a day, …; `(not set)` for rows without a value. */
                            id: string;
                            /** @description Label of the value; null for an unknown id. */
                            name: string | null;
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
                        }[];
                        totals: {
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
                        /** @description Total number of buckets, including those beyond the first 1,000. */
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
            /** @description A parameter is invalid: `invalid_authorization`, `unknown_parameter`, `invalid_group_by`, `invalid_days`, `invalid_from`, `invalid_to`, `invalid_campaign_id`, `invalid_format`, `invalid_csv_escape`, `invalid_date_range`. */
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
            /** @description What the account used this month, and what its plan allows. */
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
                        limits: {
                            /** @description Requests per minute of this key, without events. */
                            requestsPerMinute: number;
                            /** @description Events per minute of this key. */
                            eventsPerMinute: number;
                            /** @description Events per minute of one click or visitor. */
                            identifierEventsPerMinute: number;
                        };
                        /**
                         * Format: date-time
                         * @description RFC 3339, UTC, with milliseconds.
                         * @example 2026-11-21T03:00:00.000Z
                         */
                        asOf: string;
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
    postEvents: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** @description Identify the event by `click_id`, or by `visitor_id` and `campaign_id`. */
        requestBody: {
            content: {
                "application/json": {
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
            };
        };
        responses: {
            /** @description Send a server-side event. */
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
                        /** @enum {boolean} */
                        accepted: true;
                    } | {
                        /** @enum {boolean} */
                        accepted: true;
                        /** @enum {boolean} */
                        deduplicated: true;
                    } | {
                        /** @enum {boolean} */
                        accepted: true;
                        /** @enum {boolean} */
                        recorded: false;
                        /** @enum {string} */
                        reason: "fair_use_ceiling";
                    };
                };
            };
            /** @description A field is refused: `invalid_json`, `invalid_body`, `invalid_event_name`, `invalid_click_id`, `invalid_visitor_id`, `missing_identifier`, `invalid_campaign_id`, `invalid_value`, `invalid_event_id`, `invalid_timestamp`, `unknown_parameter`. */
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
            /** @description There is no such click or campaign, or it is not yours: `click_not_found`, `campaign_not_found`. */
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
            /** @description Not acknowledged; retry with the same `event_id`. An insert that took longer than its deadline may still have been stored: `unavailable`, `query_timeout`. */
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
