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
            /** @description Stable snake_case code; branch on this. */
            error: string;
            /** @description One helpful sentence for a person; may change. */
            message: string;
            /** @description The same as the X-Request-Id header; quote it to support. */
            requestId: string;
            /** @description The query parameter or body field at fault. */
            param?: string;
            /** @description The scope that the key lacks. */
            required?: string;
        };
        Campaign: {
            /** @description Letters, digits, `_ . : -`; 1 to 64 characters. */
            id: string;
            name: string;
            /** @description Who owns it. */
            userId: string;
            /** @enum {string} */
            status: "active" | "paused" | "archived";
            /** @description Letters, digits, `_ . : -`; 1 to 64 characters. */
            trafficSourceId: string | null;
            /** @description Name of the traffic source now; null for an unknown id. */
            trafficSourceName: string | null;
            /** @description Such as cpc. */
            costModel: string | null;
            /** @description At most 6 decimals, in the currency beside it. */
            costValue: number | null;
            /** @description ISO 4217. */
            currency: string | null;
            /** @description The customer’s own. */
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
            /** @description Where it is. */
            url: string | null;
            /** @description Who it comes from. */
            affiliateNetwork: string | null;
            /** @description Such as cpa. */
            payoutType: string | null;
            /** @description At most 6 decimals, in the currency beside it. */
            payout: number | null;
            /** @description ISO 4217. */
            currency: string | null;
            /** @description ISO 3166-1 alpha-2; empty: everywhere. */
            countries: string[];
            /** @description The customer’s own. */
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
            /** @description Where it is. */
            url: string | null;
            /** @description The customer’s own. */
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
            /** @description Such as social. */
            category: string | null;
            /** @description Such as cpc. */
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
                /** @description Rows a page. */
                limit?: number;
                /** @description `nextCursor` of the page before. It never expires and goes with the filters it was made for. */
                cursor?: string;
                /** @description First moment of the range: a date (00:00 UTC) or an RFC 3339 instant with offset. */
                from?: string;
                /** @description End of the range: a date (that whole day included, UTC) or an RFC 3339 instant (not included). */
                to?: string;
                /** @description `desc`, newest first, unless given; `asc` is oldest first. With `updated_since` always `asc`. */
                order?: "asc" | "desc";
                /** @description Only rows that our store took, or took a new version of, from this moment on: by `storedAt`, oldest first. Pass the `asOf` of the last page of one walk as the `updated_since` of the next. */
                updated_since?: string;
                /** @description Form of the answer; wins over `Accept`, which takes `application/x-ndjson`, `text/csv`, `application/vnd.apache.parquet`. */
                format?: "ndjson" | "csv" | "parquet" | "json";
                /** @description With CSV only: puts `'` before text cells that begin with `=`, `+`, `-`, `@`, a tab or a carriage return, which spreadsheets would run as formulas. */
                csv_escape?: "formulas";
                /** @description Only clicks of this campaign. */
                campaign_id?: string;
                /** @description Only clicks of this offer. */
                offer_id?: string;
                /** @description `true`: only clicks with a conversion that is no test; `false`: only those without. */
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
                            /** @description Name of the campaign now. */
                            campaignName: string | null;
                            /** @description Letters, digits, `_ . : -`; 1 to 64 characters. */
                            offerId: string | null;
                            /** @description Name of the offer now. */
                            offerName: string | null;
                            /** @description Letters, digits, `_ . : -`; 1 to 64 characters. */
                            landingPageId: string | null;
                            /** @description Name of the landing page now. */
                            landingPageName: string | null;
                            /** @description Letters, digits, `_ . : -`; 1 to 64 characters. */
                            trafficSourceId: string | null;
                            /** @description Name of the traffic source now. */
                            trafficSourceName: string | null;
                            /** @description Letters, digits, `_ . : -`; 1 to 64 characters. */
                            visitorId: string | null;
                            /** @description ISO 3166-1 alpha-2. */
                            country: string | null;
                            /** @description As the tracker sent it. */
                            region: string | null;
                            /** @description As the tracker sent it. */
                            city: string | null;
                            /** @enum {string|null} */
                            device: "desktop" | "mobile" | "tablet" | "other" | null;
                            /** @description Operating system. */
                            os: string | null;
                            /** @description Its version. */
                            osVersion: string | null;
                            /** @description Browser. */
                            browser: string | null;
                            /** @description Its version. */
                            browserVersion: string | null;
                            /** @description Accept-Language, as sent. */
                            language: string | null;
                            /** @description Page that the click came from. */
                            referrer: string | null;
                            /** @description User-Agent, as sent. */
                            userAgent: string | null;
                            /** @description Last octet (IPv4) or last 80 bits (IPv6) zeroed. */
                            ip: string | null;
                            /** @description Tracking parameters `sub1` to `sub10`. */
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
                            /** @description Click id of the traffic source, such as a gclid. */
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
                            /** @description At most 6 decimals, in the currency beside it. */
                            cost: number | null;
                            /** @description ISO 4217. */
                            currency: string | null;
                            /** @description cost in baseCurrency, at the rate given with it. */
                            costBase: number | null;
                            /** @description Currency of the account. */
                            baseCurrency: string;
                            /** @description Listed here, counted nowhere. */
                            isBot: boolean;
                            /** @description Listed here, counted nowhere. */
                            isTest: boolean;
                            /** @description Whether conversionCount is above 0. */
                            converted: boolean;
                            /** @description Conversions of this click that are no tests, of any status, now. */
                            conversionCount: number;
                            /**
                             * Format: date-time
                             * @description When our store took the row, or the version of it that this is; what `updated_since` goes by.
                             * @example 2026-11-21T03:00:00.000Z
                             */
                            storedAt: string;
                        }[];
                        /** @description Pass it as `cursor` to read on; null exactly when `hasMore` is false. */
                        nextCursor: string | null;
                        hasMore: boolean;
                        /**
                         * Format: date-time
                         * @description With `updated_since`: every version that our store took before this moment can be seen now; null without. Nothing is ever stored before it, also when a clock steps back, so no row is skipped; it stays the same while nothing is stored.
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
                /** @description Rows a page. */
                limit?: number;
                /** @description `nextCursor` of the page before. It never expires and goes with the filters it was made for. */
                cursor?: string;
                /** @description First moment of the range: a date (00:00 UTC) or an RFC 3339 instant with offset. */
                from?: string;
                /** @description End of the range: a date (that whole day included, UTC) or an RFC 3339 instant (not included). */
                to?: string;
                /** @description `desc`, newest first, unless given; `asc` is oldest first. With `updated_since` always `asc`. */
                order?: "asc" | "desc";
                /** @description Only rows that our store took, or took a new version of, from this moment on: by `storedAt`, oldest first. Pass the `asOf` of the last page of one walk as the `updated_since` of the next. */
                updated_since?: string;
                /** @description Form of the answer; wins over `Accept`, which takes `application/x-ndjson`, `text/csv`, `application/vnd.apache.parquet`. */
                format?: "ndjson" | "csv" | "parquet" | "json";
                /** @description With CSV only: puts `'` before text cells that begin with `=`, `+`, `-`, `@`, a tab or a carriage return, which spreadsheets would run as formulas. */
                csv_escape?: "formulas";
                /** @description Only conversions of this campaign. */
                campaign_id?: string;
                /** @description Only conversions in this state now; one or several of approved, pending, declined, hold, refunded, chargeback, with commas between. */
                status?: string;
                /** @description Where conversions come from. */
                source?: "cpa" | "revenue" | "all";
                /** @description Whether to list tests too. */
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
                            /** @description The status in the sender’s own word. */
                            externalStatus: string | null;
                            /** @description Such as purchase. */
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
                            /** @description The sender’s id of the sale. */
                            transactionId: string | null;
                            /** @description Letters, digits, `_ . : -`; 1 to 64 characters. */
                            campaignId: string | null;
                            /** @description Name of the campaign now. */
                            campaignName: string | null;
                            /** @description Letters, digits, `_ . : -`; 1 to 64 characters. */
                            offerId: string | null;
                            /** @description Name of the offer now. */
                            offerName: string | null;
                            /** @description Letters, digits, `_ . : -`; 1 to 64 characters. */
                            landingPageId: string | null;
                            /** @description Name of the landing page now. */
                            landingPageName: string | null;
                            /** @description Letters, digits, `_ . : -`; 1 to 64 characters. */
                            trafficSourceId: string | null;
                            /** @description Name of the traffic source now. */
                            trafficSourceName: string | null;
                            /** @description ISO 3166-1 alpha-2. */
                            country: string | null;
                            /** @enum {string|null} */
                            device: "desktop" | "mobile" | "tablet" | "other" | null;
                            /** @description Operating system. */
                            os: string | null;
                            /** @description Browser. */
                            browser: string | null;
                            /** @description Tracking parameters `sub1` to `sub10`. */
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
                            /** @description At most 6 decimals, in the currency beside it. */
                            payout: number | null;
                            /** @description At most 6 decimals, in the currency beside it. */
                            revenue: number | null;
                            /** @description ISO 4217. */
                            currency: string | null;
                            /** @description revenue in baseCurrency, at the rate given with it. */
                            revenueBase: number | null;
                            /** @description Currency of the account. */
                            baseCurrency: string;
                            /** @description As the sender gave it. */
                            couponCode: string | null;
                            /** @description Counted nowhere; listed with include_test_mode. */
                            isTest: boolean;
                            /**
                             * Format: date-time
                             * @description When our store took the row, or the version of it that this is; what `updated_since` goes by.
                             * @example 2026-11-21T03:00:00.000Z
                             */
                            storedAt: string;
                        }[];
                        /** @description Pass it as `cursor` to read on; null exactly when `hasMore` is false. */
                        nextCursor: string | null;
                        hasMore: boolean;
                        /**
                         * Format: date-time
                         * @description With `updated_since`: every version that our store took before this moment can be seen now; null without. Nothing is ever stored before it, also when a clock steps back, so no row is skipped; it stays the same while nothing is stored.
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
                /** @description Rows a page. */
                limit?: number;
                /** @description `nextCursor` of the page before. It never expires and goes with the filters it was made for. */
                cursor?: string;
                /** @description Only rows in this state. */
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
                        /** @description Pass it as `cursor` to read on; null exactly when `hasMore` is false. */
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
                        /** @description Who owns it. */
                        userId: string;
                        /** @enum {string} */
                        status: "active" | "paused" | "archived";
                        /** @description Letters, digits, `_ . : -`; 1 to 64 characters. */
                        trafficSourceId: string | null;
                        /** @description Name of the traffic source now; null for an unknown id. */
                        trafficSourceName: string | null;
                        /** @description Such as cpc. */
                        costModel: string | null;
                        /** @description At most 6 decimals, in the currency beside it. */
                        costValue: number | null;
                        /** @description ISO 4217. */
                        currency: string | null;
                        /** @description The customer’s own. */
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
                /** @description Rows a page. */
                limit?: number;
                /** @description `nextCursor` of the page before. It never expires and goes with the filters it was made for. */
                cursor?: string;
                /** @description Only rows in this state. */
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
                        /** @description Pass it as `cursor` to read on; null exactly when `hasMore` is false. */
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
                        /** @description Where it is. */
                        url: string | null;
                        /** @description Who it comes from. */
                        affiliateNetwork: string | null;
                        /** @description Such as cpa. */
                        payoutType: string | null;
                        /** @description At most 6 decimals, in the currency beside it. */
                        payout: number | null;
                        /** @description ISO 4217. */
                        currency: string | null;
                        /** @description ISO 3166-1 alpha-2; empty: everywhere. */
                        countries: string[];
                        /** @description The customer’s own. */
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
                /** @description Rows a page. */
                limit?: number;
                /** @description `nextCursor` of the page before. It never expires and goes with the filters it was made for. */
                cursor?: string;
                /** @description Only rows in this state. */
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
                        /** @description Pass it as `cursor` to read on; null exactly when `hasMore` is false. */
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
                        /** @description Where it is. */
                        url: string | null;
                        /** @description The customer’s own. */
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
                /** @description Rows a page. */
                limit?: number;
                /** @description `nextCursor` of the page before. It never expires and goes with the filters it was made for. */
                cursor?: string;
                /** @description Only rows in this state. */
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
                        /** @description Pass it as `cursor` to read on; null exactly when `hasMore` is false. */
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
                        /** @description Such as social. */
                        category: string | null;
                        /** @description Such as cpc. */
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
                /** @description Text to find anywhere in a field, in upper or lower case; trimmed, then 2 to 100 characters. Nothing in it is a wildcard. */
                q: string;
                /** @description Fields to look into, with commas between; all of them unless given: id, clickId, transactionId, externalStatus, campaignId, campaignName, offerId, offerName, country, couponCode, visitorId, externalClickId, referrer, sub1, sub2, sub3, sub4, sub5, sub6, sub7, sub8, sub9, sub10. */
                fields?: string;
                /** @description Rows a page. */
                limit?: number;
                /** @description `nextCursor` of the page before. It never expires and goes with the filters it was made for. */
                cursor?: string;
                /** @description First moment of the range: a date (00:00 UTC) or an RFC 3339 instant with offset. */
                from?: string;
                /** @description End of the range: a date (that whole day included, UTC) or an RFC 3339 instant (not included). */
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
                            /** @description The status in the sender’s own word. */
                            externalStatus: string | null;
                            /** @description Such as purchase. */
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
                            /** @description The sender’s id of the sale. */
                            transactionId: string | null;
                            /** @description Letters, digits, `_ . : -`; 1 to 64 characters. */
                            campaignId: string | null;
                            /** @description Name of the campaign now. */
                            campaignName: string | null;
                            /** @description Letters, digits, `_ . : -`; 1 to 64 characters. */
                            offerId: string | null;
                            /** @description Name of the offer now. */
                            offerName: string | null;
                            /** @description Letters, digits, `_ . : -`; 1 to 64 characters. */
                            landingPageId: string | null;
                            /** @description Name of the landing page now. */
                            landingPageName: string | null;
                            /** @description Letters, digits, `_ . : -`; 1 to 64 characters. */
                            trafficSourceId: string | null;
                            /** @description Name of the traffic source now. */
                            trafficSourceName: string | null;
                            /** @description ISO 3166-1 alpha-2. */
                            country: string | null;
                            /** @enum {string|null} */
                            device: "desktop" | "mobile" | "tablet" | "other" | null;
                            /** @description Operating system. */
                            os: string | null;
                            /** @description Browser. */
                            browser: string | null;
                            /** @description Tracking parameters `sub1` to `sub10`. */
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
                            /** @description At most 6 decimals, in the currency beside it. */
                            payout: number | null;
                            /** @description At most 6 decimals, in the currency beside it. */
                            revenue: number | null;
                            /** @description ISO 4217. */
                            currency: string | null;
                            /** @description revenue in baseCurrency, at the rate given with it. */
                            revenueBase: number | null;
                            /** @description Currency of the account. */
                            baseCurrency: string;
                            /** @description As the sender gave it. */
                            couponCode: string | null;
                            /** @description Counted nowhere; listed with include_test_mode. */
                            isTest: boolean;
                            /**
                             * Format: date-time
                             * @description When our store took the row, or the version of it that this is; what `updated_since` goes by.
                             * @example 2026-11-21T03:00:00.000Z
                             */
                            storedAt: string;
                            /**
                             * @description Only rows that match come back.
                             * @enum {boolean}
                             */
                            matched: true;
                            /** @description Every field that matched; of tags, each tag. */
                            matches: {
                                /** @description The field that the text was found in. */
                                field: string;
                                /** @description What stands there. */
                                value: string;
                            }[];
                        }[];
                        /** @description Pass it as `cursor` to read on; null exactly when `hasMore` is false. */
                        nextCursor: string | null;
                        hasMore: boolean;
                        /** @description The text searched for, trimmed. */
                        query: string;
                        /** @description The fields that were searched. */
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
                /** @description Text to find anywhere in a field, in upper or lower case; trimmed, then 2 to 100 characters. Nothing in it is a wildcard. */
                q: string;
                /** @description Fields to look into, with commas between; all of them unless given: id, name, status, tags. */
                fields?: string;
                /** @description Rows a page. */
                limit?: number;
                /** @description `nextCursor` of the page before. It never expires and goes with the filters it was made for. */
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
                            /** @description Who owns it. */
                            userId: string;
                            /** @enum {string} */
                            status: "active" | "paused" | "archived";
                            /** @description Letters, digits, `_ . : -`; 1 to 64 characters. */
                            trafficSourceId: string | null;
                            /** @description Name of the traffic source now; null for an unknown id. */
                            trafficSourceName: string | null;
                            /** @description Such as cpc. */
                            costModel: string | null;
                            /** @description At most 6 decimals, in the currency beside it. */
                            costValue: number | null;
                            /** @description ISO 4217. */
                            currency: string | null;
                            /** @description The customer’s own. */
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
                             * @description Only rows that match come back.
                             * @enum {boolean}
                             */
                            matched: true;
                            /** @description Every field that matched; of tags, each tag. */
                            matches: {
                                /** @description The field that the text was found in. */
                                field: string;
                                /** @description What stands there. */
                                value: string;
                            }[];
                        }[];
                        /** @description Pass it as `cursor` to read on; null exactly when `hasMore` is false. */
                        nextCursor: string | null;
                        hasMore: boolean;
                        /** @description The text searched for, trimmed. */
                        query: string;
                        /** @description The fields that were searched. */
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
                /** @description The last so many days in `tz`, today included. */
                days?: number;
                /** @description IANA time zone that days are cut in. */
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
                        /** @description The time zone that days were cut in. */
                        tz: string;
                        /** @description ISO 4217. */
                        currency: string;
                        totals: {
                            /** @description Clicks that are neither bots nor tests. */
                            clicks: number;
                            /** @description Approved conversions. */
                            conversions: number;
                            /** @description Revenue of approved conversions, in the account currency. */
                            revenue: number;
                            /** @description Conversions whose status is pending. */
                            pendingConversions: number;
                            /** @description Conversions whose status is hold. */
                            holdConversions: number;
                            /** @description Conversions whose status is declined. */
                            declinedConversions: number;
                            /** @description Conversions whose status is refunded or chargeback. */
                            refundedConversions: number;
                            /** @description Revenue of pending and hold conversions. */
                            pendingRevenue: number;
                            /** @description Revenue of refunded and chargeback conversions. */
                            refundedRevenue: number;
                            /** @description Cost of the clicks, in the account currency. */
                            cost: number;
                            /** @description revenue − cost. */
                            profit: number;
                            /** @description profit / cost × 100, percent; null without cost. */
                            roi: number | null;
                            /** @description conversions / clicks × 100, percent; null without clicks. */
                            cr: number | null;
                            /** @description revenue / clicks; null without clicks. */
                            epc: number | null;
                            /** @description cost / conversions; null without conversions. */
                            cpa: number | null;
                            /** @description cost / clicks; null without clicks. */
                            cpc: number | null;
                            /** @description revenue / conversions; null without conversions. */
                            aov: number | null;
                        };
                        resources: {
                            /** @description Campaigns that are not archived, now. */
                            campaigns: number;
                            /** @description Offers that are not archived, now. */
                            offers: number;
                            /** @description Landing pages that are not archived, now. */
                            landingPages: number;
                            /** @description Traffic sources that are not archived, now. */
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
            /** @description The numbers are those of the answer whose `ETag` you named. */
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
                /** @description The last so many days in `tz`, today included. */
                days?: number;
                /** @description IANA time zone that days are cut in. */
                tz?: string;
                /** @description Only clicks and conversions of this campaign. */
                campaign_id?: string;
                /** @description Form of the answer; wins over `Accept`, which takes `text/csv`. */
                format?: "csv" | "json";
                /** @description With CSV only: puts `'` before text cells that begin with `=`, `+`, `-`, `@`, a tab or a carriage return, which spreadsheets would run as formulas. */
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
                        /** @description The time zone that days were cut in. */
                        tz: string;
                        /** @description ISO 4217. */
                        currency: string;
                        /** @description Every local day, oldest first, days without a click too. */
                        data: {
                            /**
                             * Format: date
                             * @description The local day.
                             */
                            id: string;
                            /**
                             * Format: date
                             * @description The same.
                             */
                            date: string;
                            /** @description Whether the day is over; its numbers still change when a conversion is approved or refunded late. */
                            complete: boolean;
                            /** @description Clicks that are neither bots nor tests. */
                            clicks: number;
                            /** @description Approved conversions. */
                            conversions: number;
                            /** @description Revenue of approved conversions, in the account currency. */
                            revenue: number;
                            /** @description Conversions whose status is pending. */
                            pendingConversions: number;
                            /** @description Conversions whose status is hold. */
                            holdConversions: number;
                            /** @description Conversions whose status is declined. */
                            declinedConversions: number;
                            /** @description Conversions whose status is refunded or chargeback. */
                            refundedConversions: number;
                            /** @description Revenue of pending and hold conversions. */
                            pendingRevenue: number;
                            /** @description Revenue of refunded and chargeback conversions. */
                            refundedRevenue: number;
                            /** @description Cost of the clicks, in the account currency. */
                            cost: number;
                            /** @description revenue − cost. */
                            profit: number;
                            /** @description profit / cost × 100, percent; null without cost. */
                            roi: number | null;
                            /** @description conversions / clicks × 100, percent; null without clicks. */
                            cr: number | null;
                            /** @description revenue / clicks; null without clicks. */
                            epc: number | null;
                            /** @description cost / conversions; null without conversions. */
                            cpa: number | null;
                            /** @description cost / clicks; null without clicks. */
                            cpc: number | null;
                            /** @description revenue / conversions; null without conversions. */
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
            /** @description The numbers are those of the answer whose `ETag` you named. */
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
                /** @description What a row of the report stands for. */
                group_by: "campaign" | "country" | "device" | "os" | "browser" | "offer" | "landing" | "traffic_source" | "day";
                /** @description The last so many UTC days, today included. An explicit range wins. */
                days?: number;
                /** @description First moment of the range: a date (00:00 UTC) or an RFC 3339 instant with offset. */
                from?: string;
                /** @description End of the range: a date (that whole day included, UTC) or an RFC 3339 instant (not included). */
                to?: string;
                /** @description Only clicks and conversions of this campaign. */
                campaign_id?: string;
                /** @description Form of the answer; wins over `Accept`, which takes `text/csv`. */
                format?: "csv" | "json";
                /** @description With CSV only: puts `'` before text cells that begin with `=`, `+`, `-`, `@`, a tab or a carriage return, which spreadsheets would run as formulas. */
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
                        /** @description Clicks descending, then id ascending. */
                        data: {
                            /** @description The bucket: a campaign id, a country code, a day, …; `(not set)` for rows without. */
                            id: string;
                            /** @description Its label; null for an unknown id. */
                            name: string | null;
                            /** @description Clicks that are neither bots nor tests. */
                            clicks: number;
                            /** @description Approved conversions. */
                            conversions: number;
                            /** @description Revenue of approved conversions, in the account currency. */
                            revenue: number;
                            /** @description Conversions whose status is pending. */
                            pendingConversions: number;
                            /** @description Conversions whose status is hold. */
                            holdConversions: number;
                            /** @description Conversions whose status is declined. */
                            declinedConversions: number;
                            /** @description Conversions whose status is refunded or chargeback. */
                            refundedConversions: number;
                            /** @description Revenue of pending and hold conversions. */
                            pendingRevenue: number;
                            /** @description Revenue of refunded and chargeback conversions. */
                            refundedRevenue: number;
                            /** @description Cost of the clicks, in the account currency. */
                            cost: number;
                            /** @description revenue − cost. */
                            profit: number;
                            /** @description profit / cost × 100, percent; null without cost. */
                            roi: number | null;
                            /** @description conversions / clicks × 100, percent; null without clicks. */
                            cr: number | null;
                            /** @description revenue / clicks; null without clicks. */
                            epc: number | null;
                            /** @description cost / conversions; null without conversions. */
                            cpa: number | null;
                            /** @description cost / clicks; null without clicks. */
                            cpc: number | null;
                            /** @description revenue / conversions; null without conversions. */
                            aov: number | null;
                        }[];
                        totals: {
                            /** @description Clicks that are neither bots nor tests. */
                            clicks: number;
                            /** @description Approved conversions. */
                            conversions: number;
                            /** @description Revenue of approved conversions, in the account currency. */
                            revenue: number;
                            /** @description Conversions whose status is pending. */
                            pendingConversions: number;
                            /** @description Conversions whose status is hold. */
                            holdConversions: number;
                            /** @description Conversions whose status is declined. */
                            declinedConversions: number;
                            /** @description Conversions whose status is refunded or chargeback. */
                            refundedConversions: number;
                            /** @description Revenue of pending and hold conversions. */
                            pendingRevenue: number;
                            /** @description Revenue of refunded and chargeback conversions. */
                            refundedRevenue: number;
                            /** @description Cost of the clicks, in the account currency. */
                            cost: number;
                            /** @description revenue − cost. */
                            profit: number;
                            /** @description profit / cost × 100, percent; null without cost. */
                            roi: number | null;
                            /** @description conversions / clicks × 100, percent; null without clicks. */
                            cr: number | null;
                            /** @description revenue / clicks; null without clicks. */
                            epc: number | null;
                            /** @description cost / conversions; null without conversions. */
                            cpa: number | null;
                            /** @description cost / clicks; null without clicks. */
                            cpc: number | null;
                            /** @description revenue / conversions; null without conversions. */
                            aov: number | null;
                        };
                        /** @description Buckets in all, beyond the first 1,000 too. */
                        bucketCount: number;
                        /** @description Whether there are more buckets than rows here. */
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
            /** @description The numbers are those of the answer whose `ETag` you named. */
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
                         * @description The first moment of this UTC month.
                         * @example 2026-11-21T03:00:00.000Z
                         */
                        from: string;
                        /**
                         * Format: date-time
                         * @description The first moment of the next one, when the counts start at zero.
                         * @example 2026-11-21T03:00:00.000Z
                         */
                        to: string;
                        /**
                         * @description The name of the plan.
                         * @example pro
                         */
                        plan: string;
                        clicks: {
                            /** @description Clicks of this month as stats and reports count them: neither bots nor tests. */
                            tracked: number;
                            /** @description Clicks a month that the plan covers. */
                            allowance: number;
                        };
                        events: {
                            /** @description Server events stored this month; duplicates are not stored again. */
                            stored: number;
                            /** @description 20 times the allowance of clicks; beyond it events are accepted and not stored. */
                            ceiling: number;
                        };
                        limits: {
                            /** @description Requests that this key may send a minute, events apart. */
                            requestsPerMinute: number;
                            /** @description Events that this key may send a minute. */
                            eventsPerMinute: number;
                            /** @description Events that one click or visitor may have a minute. */
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
            /** @description The numbers are those of the answer whose `ETag` you named. */
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
        /** @description Either `click_id`, or `visitor_id` and `campaign_id`, say whose event it is. */
        requestBody: {
            content: {
                "application/json": {
                    /** @description The click that the event belongs to: for paid traffic. */
                    click_id?: string | null;
                    /** @description The visitor of the pixel, for organic or direct traffic; needs `campaign_id`. */
                    visitor_id?: string | null;
                    /** @description The campaign of `visitor_id`; ignored beside `click_id`. */
                    campaign_id?: string | null;
                    /**
                     * @description What happened.
                     * @example trial_converted
                     */
                    event_name: string;
                    /**
                     * @description A signal of your own, not revenue; clamped to ±1e12.
                     * @example 49.9
                     */
                    value?: number | null;
                    /**
                     * @description ISO 4217, uppercase; ignored when it is not.
                     * @example USD
                     */
                    currency?: string | null;
                    /**
                     * @description Up to 20 fields of your own: text up to 256 characters, finite numbers, booleans. What is over a limit, or of another type, is dropped; the whole object above 8 KiB.
                     * @example {
                     *       "plan": "yearly",
                     *       "seats": 3
                     *     }
                     */
                    properties?: {
                        [key: string]: string | number | boolean;
                    } | null;
                    /**
                     * @description Your id of this event. Sent again within 24 hours it changes nothing, so a call without an answer can be repeated.
                     * @example order-1042-paid
                     */
                    event_id?: string | null;
                    /**
                     * @description When it happened, ISO 8601; now when left out. Clamped to the last 30 days and the next 5 minutes.
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
