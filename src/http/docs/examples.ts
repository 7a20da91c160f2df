// Written by test/docs/examples.test.ts from answers of a server; `npm test -- -u` writes it anew.

/** By operation: what is sent, where there is a body, and what is answered. */
export const examples: Readonly<Record<string, { request?: unknown; answer: unknown }>> = {
  "getClicks": {
    "answer": {
      "data": [
        {
          "id": "clk-sg85-20261121-00091",
          "clickedAt": "2026-11-21T12:35:11.671Z",
          "campaignId": "cmp-solaro-outbrain-eu",
          "campaignName": "Solaro – Outbrain DE/NL",
          "offerId": "off-solaro-eu",
          "offerName": "Solaro – Photovoltaik-Angebot",
          "landingPageId": "lp-solaro-rechner",
          "landingPageName": "Solaro – Solarrechner",
          "trafficSourceId": "src-outbrain",
          "trafficSourceName": "Outbrain",
          "visitorId": "vis-sg85-20261121-00066",
          "country": "DE",
          "region": "Hamburg",
          "city": "Hamburg",
          "device": "desktop",
          "os": "Windows",
          "osVersion": "11",
          "browser": "Edge",
          "browserVersion": "141.0.0.0",
          "language": "de-DE",
          "referrer": "https://nieuws.example/",
          "userAgent": "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/141.0.0.0 Safari/537.36 Edg/141.0.0.0",
          "ip": "2001:db8:bc03::",
          "subIds": {
            "sub1": "adset-4",
            "sub2": "strompreis",
            "sub3": "site-1091",
            "sub4": null,
            "sub5": null,
            "sub6": null,
            "sub7": null,
            "sub8": null,
            "sub9": null,
            "sub10": null
          },
          "externalClickId": "v4-obc6earpvdhk5",
          "utmSource": "outbrain",
          "utmMedium": "native",
          "utmCampaign": "solaro-outbrain-eu",
          "utmTerm": null,
          "utmContent": "strompreis",
          "cost": 0.3851,
          "currency": "EUR",
          "costBase": 0.417179,
          "baseCurrency": "USD",
          "isBot": false,
          "isTest": false,
          "converted": true,
          "conversionCount": 1,
          "storedAt": "2026-11-21T15:00:00.000Z"
        }
      ],
      "nextCursor": "WyI2MjMxNmVkMjIyYWQ1NmIxIiwxNzk1MjY0NTExNjcxLCJjbGstc2c4NS0yMDI2MTEyMS0wMDA5MSJd",
      "hasMore": true,
      "asOf": null
    }
  },
  "getConversions": {
    "answer": {
      "data": [
        {
          "id": "cnv-sg85-20261110-00108",
          "source": "revenue",
          "status": "refunded",
          "externalStatus": "refunded",
          "eventName": "purchase",
          "convertedAt": "2026-11-10T14:46:29.419Z",
          "clickedAt": "2026-11-10T14:28:47.373Z",
          "createdAt": "2026-11-10T14:49:44.356Z",
          "updatedAt": "2026-11-14T02:35:17.972Z",
          "clickId": "clk-sg85-20261110-00108",
          "visitorId": "vis-sg85-20261110-00005",
          "transactionId": "ord-sg85-20261110-00108",
          "campaignId": "cmp-retargeting",
          "campaignName": "Retargeting – Abandoned Carts",
          "offerId": "off-luma-blanket",
          "offerName": "Luma Sleep – Weighted Blanket",
          "landingPageId": null,
          "landingPageName": null,
          "trafficSourceId": "src-meta",
          "trafficSourceName": "Meta Ads",
          "country": "US",
          "device": "mobile",
          "os": "iOS",
          "browser": "Facebook",
          "subIds": {
            "sub1": "adset-1",
            "sub2": "ten-off",
            "sub3": null,
            "sub4": null,
            "sub5": null,
            "sub6": null,
            "sub7": null,
            "sub8": null,
            "sub9": null,
            "sub10": null
          },
          "payout": null,
          "revenue": 147.84,
          "currency": "USD",
          "revenueBase": 147.84,
          "baseCurrency": "USD",
          "couponCode": null,
          "isTest": false,
          "storedAt": "2026-11-21T15:00:00.000Z"
        }
      ],
      "nextCursor": "WyIxZTg0M2RmNDI3OTEzMzkyIiwxNzk0MzIxOTg5NDE5LCJjbnYtc2c4NS0yMDI2MTExMC0wMDEwOCJd",
      "hasMore": true,
      "asOf": null
    }
  },
  "getCampaigns": {
    "answer": {
      "data": [
        {
          "id": "cmp-buyers-guides",
          "name": "Buyers’ Guides – Organic",
          "userId": "harbour",
          "status": "active",
          "trafficSourceId": "src-organic",
          "trafficSourceName": "Buyers’ Guides Blog",
          "costModel": null,
          "costValue": null,
          "currency": "USD",
          "tags": [
            "organic"
          ],
          "createdAt": "2024-06-27T09:00:00.000Z",
          "updatedAt": "2024-06-27T09:00:00.000Z"
        }
      ],
      "nextCursor": "WyJlNzhkYjE4NzIxMmRlYTYzIiwxNzE5NDc4ODAwMDAwLCJjbXAtYnV5ZXJzLWd1aWRlcyJd",
      "hasMore": true
    }
  },
  "getCampaignsById": {
    "answer": {
      "id": "cmp-luma-meta-broad",
      "name": "Luma Sleep – Meta Broad US",
      "userId": "harbour",
      "status": "active",
      "trafficSourceId": "src-meta",
      "trafficSourceName": "Meta Ads",
      "costModel": "cpc",
      "costValue": 0.74,
      "currency": "USD",
      "tags": [
        "luma",
        "prospecting"
      ],
      "createdAt": "2024-01-08T09:00:00.000Z",
      "updatedAt": "2024-01-08T09:00:00.000Z"
    }
  },
  "getOffers": {
    "answer": {
      "data": [
        {
          "id": "off-tidewater-card",
          "name": "Tidewater Cashback Card – Application",
          "status": "active",
          "url": "https://tidewater-card.example/",
          "affiliateNetwork": "CJ",
          "payoutType": "cpl",
          "payout": 85,
          "currency": "USD",
          "countries": [
            "US"
          ],
          "tags": [
            "finance",
            "lead"
          ],
          "createdAt": "2024-05-13T09:00:00.000Z",
          "updatedAt": "2024-05-13T09:00:00.000Z"
        }
      ],
      "nextCursor": "WyI3ZTNmYTY4Y2E2Nzk3NjBjIiwxNzE1NTkwODAwMDAwLCJvZmYtdGlkZXdhdGVyLWNhcmQiXQ",
      "hasMore": true
    }
  },
  "getOffersById": {
    "answer": {
      "id": "off-luma-blanket",
      "name": "Luma Sleep – Weighted Blanket",
      "status": "active",
      "url": "https://luma-blanket.example/",
      "affiliateNetwork": null,
      "payoutType": "revshare",
      "payout": 128,
      "currency": "USD",
      "countries": [
        "US",
        "CA"
      ],
      "tags": [
        "home",
        "own-shop"
      ],
      "createdAt": "2024-01-08T09:00:00.000Z",
      "updatedAt": "2024-01-08T09:00:00.000Z"
    }
  },
  "getLandingPages": {
    "answer": {
      "data": [
        {
          "id": "lp-tidewater-apply",
          "name": "Tidewater – Apply",
          "status": "active",
          "url": "https://go.harbour-media.example/tidewater-apply",
          "tags": [],
          "createdAt": "2024-05-22T09:00:00.000Z",
          "updatedAt": "2024-05-22T09:00:00.000Z"
        }
      ],
      "nextCursor": "WyIzNDA3NzVjZmE4OGE4Mzk0IiwxNzE2MzY4NDAwMDAwLCJscC10aWRld2F0ZXItYXBwbHkiXQ",
      "hasMore": true
    }
  },
  "getLandingPagesById": {
    "answer": {
      "id": "lp-luma-quiz",
      "name": "Luma – Sleep Quiz",
      "status": "active",
      "url": "https://go.harbour-media.example/luma-quiz",
      "tags": [
        "pixel"
      ],
      "createdAt": "2024-01-08T09:00:00.000Z",
      "updatedAt": "2024-01-08T09:00:00.000Z"
    }
  },
  "getTrafficSources": {
    "answer": {
      "data": [
        {
          "id": "src-organic",
          "name": "Buyers’ Guides Blog",
          "status": "active",
          "category": "organic",
          "costModel": null,
          "currency": "USD",
          "createdAt": "2024-04-16T09:00:00.000Z",
          "updatedAt": "2024-04-16T09:00:00.000Z"
        }
      ],
      "nextCursor": "WyIyMDVhN2FmZjQ2YzJlNTZlIiwxNzEzMjU4MDAwMDAwLCJzcmMtb3JnYW5pYyJd",
      "hasMore": true
    }
  },
  "getTrafficSourcesById": {
    "answer": {
      "id": "src-meta",
      "name": "Meta Ads",
      "status": "active",
      "category": "social",
      "costModel": "cpc",
      "currency": "USD",
      "createdAt": "2024-01-08T09:00:00.000Z",
      "updatedAt": "2024-01-08T09:00:00.000Z"
    }
  },
  "getConversionsSearch": {
    "answer": {
      "data": [
        {
          "id": "cnv-sg85-20261120-00041",
          "source": "revenue",
          "status": "approved",
          "externalStatus": "succeeded",
          "eventName": "purchase",
          "convertedAt": "2026-11-21T14:24:09.915Z",
          "clickedAt": "2026-11-20T04:19:48.205Z",
          "createdAt": "2026-11-21T14:27:23.320Z",
          "updatedAt": "2026-11-21T14:27:23.320Z",
          "clickId": "clk-sg85-20261120-00041",
          "visitorId": "vis-sg85-20261120-00015",
          "transactionId": "ord-sg85-20261120-00041",
          "campaignId": "cmp-luma-meta-lookalike",
          "campaignName": "Luma Sleep – Meta Lookalike 2 %",
          "offerId": "off-luma-pillow",
          "offerName": "Luma Sleep – Cooling Pillow",
          "landingPageId": "lp-luma-quiz",
          "landingPageName": "Luma – Sleep Quiz",
          "trafficSourceId": "src-meta",
          "trafficSourceName": "Meta Ads",
          "country": "US",
          "device": "mobile",
          "os": "Android",
          "browser": "Facebook",
          "subIds": {
            "sub1": "adset-2",
            "sub2": "ugc-bedroom",
            "sub3": null,
            "sub4": null,
            "sub5": null,
            "sub6": null,
            "sub7": null,
            "sub8": null,
            "sub9": null,
            "sub10": null
          },
          "payout": null,
          "revenue": 66.56,
          "currency": "USD",
          "revenueBase": 66.56,
          "baseCurrency": "USD",
          "couponCode": null,
          "isTest": false,
          "storedAt": "2026-11-21T15:00:00.000Z",
          "matched": true,
          "matches": [
            {
              "field": "campaignId",
              "value": "cmp-luma-meta-lookalike"
            },
            {
              "field": "campaignName",
              "value": "Luma Sleep – Meta Lookalike 2 %"
            },
            {
              "field": "offerId",
              "value": "off-luma-pillow"
            },
            {
              "field": "offerName",
              "value": "Luma Sleep – Cooling Pillow"
            }
          ]
        }
      ],
      "nextCursor": "WyIyYWZhYjcwMTgzOTRiMjA5IiwxNzk1MjcxMDQ5OTE1LCJjbnYtc2c4NS0yMDI2MTEyMC0wMDA0MSJd",
      "hasMore": true,
      "query": "luma",
      "searchedFields": [
        "id",
        "clickId",
        "transactionId",
        "externalStatus",
        "campaignId",
        "campaignName",
        "offerId",
        "offerName",
        "country",
        "couponCode",
        "visitorId",
        "externalClickId",
        "referrer",
        "sub1",
        "sub2",
        "sub3",
        "sub4",
        "sub5",
        "sub6",
        "sub7",
        "sub8",
        "sub9",
        "sub10"
      ]
    }
  },
  "getCampaignsSearch": {
    "answer": {
      "data": [
        {
          "id": "cmp-luma-meta-lookalike",
          "name": "Luma Sleep – Meta Lookalike 2 %",
          "userId": "harbour",
          "status": "active",
          "trafficSourceId": "src-meta",
          "trafficSourceName": "Meta Ads",
          "costModel": "cpc",
          "costValue": 0.92,
          "currency": "USD",
          "tags": [
            "luma",
            "prospecting"
          ],
          "createdAt": "2024-01-17T09:00:00.000Z",
          "updatedAt": "2024-01-17T09:00:00.000Z",
          "matched": true,
          "matches": [
            {
              "field": "id",
              "value": "cmp-luma-meta-lookalike"
            },
            {
              "field": "name",
              "value": "Luma Sleep – Meta Lookalike 2 %"
            },
            {
              "field": "tags",
              "value": "luma"
            }
          ]
        }
      ],
      "nextCursor": "WyJjMjIzOGI1Y2Y5YTYwMmJmIiwxNzA1NDgyMDAwMDAwLCJjbXAtbHVtYS1tZXRhLWxvb2thbGlrZSJd",
      "hasMore": true,
      "query": "luma",
      "searchedFields": [
        "id",
        "name",
        "status",
        "tags"
      ]
    }
  },
  "getStatsOverview": {
    "answer": {
      "from": "2026-11-15T00:00:00.000Z",
      "to": "2026-11-22T00:00:00.000Z",
      "tz": "UTC",
      "currency": "USD",
      "totals": {
        "clicks": 1172,
        "conversions": 18,
        "revenue": 1072.941725,
        "pendingConversions": 10,
        "holdConversions": 0,
        "declinedConversions": 1,
        "refundedConversions": 0,
        "pendingRevenue": 320.3406,
        "refundedRevenue": 0,
        "cost": 553.883703,
        "profit": 519.058022,
        "roi": 93.712456,
        "cr": 1.535836,
        "epc": 0.915479,
        "cpa": 30.771317,
        "cpc": 0.472597,
        "aov": 59.607874
      },
      "resources": {
        "campaigns": 18,
        "offers": 15,
        "landingPages": 16,
        "trafficSources": 12
      },
      "asOf": "2026-11-21T15:00:00.000Z"
    }
  },
  "getStatsDaily": {
    "answer": {
      "from": "2026-11-21T05:00:00.000Z",
      "to": "2026-11-22T05:00:00.000Z",
      "tz": "America/New_York",
      "currency": "USD",
      "data": [
        {
          "id": "2026-11-21",
          "date": "2026-11-21",
          "complete": false,
          "clicks": 61,
          "conversions": 1,
          "revenue": 66.56,
          "pendingConversions": 2,
          "holdConversions": 0,
          "declinedConversions": 0,
          "refundedConversions": 0,
          "pendingRevenue": 100.7922,
          "refundedRevenue": 0,
          "cost": 29.556823,
          "profit": 37.003177,
          "roi": 125.19335,
          "cr": 1.639344,
          "epc": 1.091148,
          "cpa": 29.556823,
          "cpc": 0.484538,
          "aov": 66.56
        }
      ],
      "asOf": "2026-11-21T15:00:00.000Z"
    }
  },
  "getReports": {
    "answer": {
      "groupBy": "day",
      "from": "2026-11-21T00:00:00.000Z",
      "to": "2026-11-22T00:00:00.000Z",
      "currency": "USD",
      "data": [
        {
          "id": "2026-11-21",
          "name": "2026-11-21",
          "clicks": 103,
          "conversions": 2,
          "revenue": 125.56,
          "pendingConversions": 3,
          "holdConversions": 0,
          "declinedConversions": 0,
          "refundedConversions": 0,
          "pendingRevenue": 101.4122,
          "refundedRevenue": 0,
          "cost": 47.225467,
          "profit": 78.334533,
          "roi": 165.873496,
          "cr": 1.941748,
          "epc": 1.219029,
          "cpa": 23.612734,
          "cpc": 0.4585,
          "aov": 62.78
        }
      ],
      "totals": {
        "clicks": 103,
        "conversions": 2,
        "revenue": 125.56,
        "pendingConversions": 3,
        "holdConversions": 0,
        "declinedConversions": 0,
        "refundedConversions": 0,
        "pendingRevenue": 101.4122,
        "refundedRevenue": 0,
        "cost": 47.225467,
        "profit": 78.334533,
        "roi": 165.873496,
        "cr": 1.941748,
        "epc": 1.219029,
        "cpa": 23.612734,
        "cpc": 0.4585,
        "aov": 62.78
      },
      "bucketCount": 1,
      "truncated": false,
      "asOf": "2026-11-21T15:00:00.000Z"
    }
  },
  "getUsage": {
    "answer": {
      "from": "2026-11-01T00:00:00.000Z",
      "to": "2026-12-01T00:00:00.000Z",
      "plan": "scale",
      "clicks": {
        "tracked": 3939,
        "allowance": 10000000
      },
      "events": {
        "stored": 0,
        "ceiling": 200000000
      },
      "limits": {
        "requestsPerMinute": 6000,
        "eventsPerMinute": 60000,
        "identifierEventsPerMinute": 1200
      },
      "asOf": "2026-11-21T15:00:00.000Z"
    }
  },
  "postEvents": {
    "request": {
      "click_id": "clk-sg85-20261121-00108",
      "event_name": "trial_converted",
      "value": 49.9,
      "currency": "USD",
      "properties": {
        "plan": "yearly",
        "seats": 3
      },
      "event_id": "order-1042-paid",
      "timestamp": "2026-11-21T14:59:00.000Z"
    },
    "answer": {
      "accepted": true
    }
  }
}
