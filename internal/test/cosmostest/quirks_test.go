package cosmostest_test

// What foreign servers do not do as the service, by the name of the check. A
// quirk that is gone fails the test, unless it shows "at times" only.

var vercelQuirks = map[string]string{
	"a write returns no content":                               "Prefer is ignored",
	"a document of another partition than the header's is 400": "accepted",
	"a missing container is 404":                               "500 for a create",
	"a read with If-None-Match is 304":                         "200 with the document",
	"a wrong key is 401":                                       "keys are not checked",
	"a batch is atomic: 409 with 424 around it":                "what comes before the failure stays, and all is told a success",
	"If-Match in a batch":                                      "what comes before the failure stays",
	"101 operations are 400":                                   "accepted",
	"a batch of 3 MB is 413":                                   "accepted",
	"a document over 2 MB is 413":                              "accepted",
	"ids that are refused":                                     "accepted",
}

var cosmiumQuirks = map[string]string{
	"create and read tell the etag of the document":            "no header",
	"a write returns no content":                               "Prefer is ignored",
	"partitions have ids of their own":                         "ids count for the whole container",
	"read in the wrong partition is 404":                       "ids count for the whole container",
	"a document of another partition than the header's is 400": "accepted",
	"a missing container is 404":                               "500 for a create",
	"a replacement names the etag: 412 for a stale one":        "ignored",
	"eight writers who compare and swap lose nothing":          "at times they do: If-Match is ignored, and a document is gone while it is replaced",
	"a read with If-None-Match is 304":                         "200 with the document",
	"a list has what was written since a time":                 "what is older, too",
	"a row has the members that are asked for":                 "null for one that is not there",
	"pages of 25":                               "one page",
	"a continuation serves another pager":       "there is none",
	"upsert in a batch":                         "201 for what was there",
	"replace in a batch":                        "201",
	"a batch is atomic: 409 with 424 around it": "every operation is done that can be, and all is told a success",
	"If-Match in a batch":                       "ignored",
	"101 operations are 400":                    "accepted",
	"a batch of 3 MB is 413":                    "accepted",
	"a document over 2 MB is 413":               "accepted",
	"ids that are refused":                      "accepted",
}
