package cosmostest_test

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/internal/test/cosmostest"
)

const docsLink = "dbs/d/colls/c"

// A probe is a request that no client would send.
type probe struct {
	method  string
	path    string
	kind    string // that is signed
	link    string // that is signed
	body    string
	headers map[string]string // "" takes a header away
	length  int64             // of the body; 0: the right one
}

// send signs a probe and sends it.
func send(t *testing.T, srv *cosmostest.Server, p probe) (int, http.Header, string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), p.method, srv.Endpoint()+p.path, strings.NewReader(p.body))
	require.NoError(t, err)
	if p.length != 0 {
		r.Body, r.ContentLength = io.NopCloser(bytes.NewReader([]byte(p.body))), p.length
	}
	date := time.Now().UTC().Format(http.TimeFormat)
	key, err := base64.StdEncoding.DecodeString(srv.Key())
	require.NoError(t, err)
	mac := hmac.New(sha256.New, key)
	fmt.Fprintf(mac, "%s\n%s\n%s\n%s\n\n", strings.ToLower(p.method), p.kind, p.link, strings.ToLower(date))
	sig := base64.StdEncoding.EncodeToString(mac.Sum(nil))
	r.Header.Set("Authorization", url.QueryEscape("type=master&ver=1.0&sig="+sig))
	r.Header.Set("x-ms-date", date)
	r.Header.Set("x-ms-version", "2018-12-31")
	r.Header.Set("x-ms-documentdb-partitionkey", `["a"]`)
	r.Header.Set("Prefer", "return=minimal")
	for name, value := range p.headers {
		if r.Header.Set(name, value); value == "" {
			r.Header.Del(name)
		}
	}
	answer, err := srv.Transport().Do(r)
	require.NoError(t, err)
	body, err := io.ReadAll(answer.Body)
	require.NoError(t, err)
	return answer.StatusCode, answer.Header, string(body)
}

// create is a probe that creates a document.
func create(body string, headers ...string) probe {
	p := probe{method: "POST", path: docsLink + "/docs", kind: "docs", link: docsLink, body: body, headers: map[string]string{}}
	for i := 0; i+1 < len(headers); i += 2 {
		p.headers[headers[i]] = headers[i+1]
	}
	return p
}

// ask is a probe that queries.
func ask(headers ...string) probe {
	p := create(`{"query":"`+listText+byID+`","parameters":[{"name":"@pk","value":"a"},{"name":"@after","value":""}]}`, headers...)
	for name, value := range map[string]string{
		"x-ms-documentdb-query": "True", "Content-Type": "application/query+json", "x-ms-max-item-count": "9",
	} {
		if _, given := p.headers[name]; !given {
			p.headers[name] = value
		}
	}
	return p
}

// item is a probe of one document.
func item(method, id, body string, headers ...string) probe {
	p := create(body, headers...)
	p.method, p.path, p.link = method, docsLink+"/docs/"+url.PathEscape(id), docsLink+"/docs/"+id
	return p
}

func batch(body string, headers ...string) probe {
	return create(body, append([]string{"x-ms-cosmos-is-batch-request", "True", "x-ms-cosmos-batch-atomic", "True"}, headers...)...)
}

func TestRefusals(t *testing.T) {
	t.Parallel()
	deep := strings.Repeat(`[`, 200) + strings.Repeat(`]`, 200)
	tests := []struct {
		name   string
		probe  probe
		status int
		sub    string
	}{
		{"a good one", create(`{"id":"good","pk":"a"}`), 201, ""},
		{"no authorization", create(`{"id":"x","pk":"a"}`, "Authorization", ""), 401, ""},
		{"authorization of another form", create(`{"id":"x","pk":"a"}`, "Authorization", "Bearer x"), 401, ""},
		{"a token that is no base64", create(`{"id":"x","pk":"a"}`, "Authorization", url.QueryEscape("type=master&ver=1.0&sig=?")), 401, ""},
		{"a bearer token", create(`{"id":"x","pk":"a"}`, "Authorization", "type=aad&ver=1.0&sig=x"), 401, ""},
		{"no version", create(`{"id":"x","pk":"a"}`, "x-ms-version", ""), 400, ""},
		{"no date", create(`{"id":"x","pk":"a"}`, "x-ms-date", ""), 401, ""},
		{"another date than the signed one", create(`{"id":"x","pk":"a"}`, "x-ms-date", "Tue, 01 Nov 1994 08:12:31 GMT"), 401, ""},
		{"no partition key", create(`{"id":"x","pk":"a"}`, "x-ms-documentdb-partitionkey", ""), 400, ""},
		{"a partition key that is no array", create(`{"id":"x","pk":"a"}`, "x-ms-documentdb-partitionkey", `"a"`), 400, ""},
		{"a partition key that is an object", create(`{"id":"x","pk":"a"}`, "x-ms-documentdb-partitionkey", `[{"a":1}]`), 400, ""},
		{"two partition keys", create(`{"id":"x","pk":"a"}`, "x-ms-documentdb-partitionkey", `["a","b"]`), 400, "1001"},
		{"a long partition key", create(`{"id":"x","pk":"a"}`, "x-ms-documentdb-partitionkey", `["`+strings.Repeat("k", 2049)+`"]`), 400, ""},
		{"another partition key", create(`{"id":"x","pk":"b"}`), 400, "1001"},
		{"a partition key that is not there", create(`{"id":"x"}`), 400, "1001"},
		{"no id", create(`{"pk":"a"}`), 400, ""},
		{"an id that is a number", create(`{"id":7,"pk":"a"}`), 400, ""},
		{"no JSON", create(`{"id":"x","pk":"a"`), 400, ""},
		{"JSON that is no object", create(`["x"]`), 400, ""},
		{"repeated names", create(`{"id":"x","pk":"a","v":1,"v":2}`), 400, ""},
		{"half of a surrogate pair", create(`{"id":"x","pk":"a","v":"\ud800"}`), 400, ""},
		{"invalid UTF-8", create("{\"id\":\"x\",\"pk\":\"a\",\"v\":\"\xff\"}"), 400, ""},
		{"deep nesting", create(`{"id":"x","pk":"a","v":` + deep + `}`), 400, ""},
		{"a number over the range", create(`{"id":"x","pk":"a","v":1e999}`), 400, ""},
		{"a time to live", create(`{"id":"x","pk":"a","ttl":60}`), 400, ""},
		{"a content length too long", probe{"POST", docsLink + "/docs", "docs", docsLink, `{"id":"x","pk":"a"}`, nil, 99}, 400, ""},
		{"an id of 1024 bytes", create(`{"id":"` + strings.Repeat("i", 1024) + `","pk":"a"}`), 400, ""},
		{"an id of 1023 bytes", create(`{"id":"` + strings.Repeat("i", 1023) + `","pk":"a"}`), 201, ""},
		{"a document over 2 MB", create(`{"id":"x","pk":"a","v":"` + strings.Repeat("v", 2<<20) + `"}`), 413, ""},
		{"a request without end", create(strings.Repeat("x", 6<<20)), 413, ""},
		{"a resource of another kind", probe{"GET", "dbs/d/users", "users", "dbs/d", "", nil, 0}, 404, ""},
		{"a verb of another resource", probe{"PATCH", "dbs/d/colls/c", "colls", docsLink, "", nil, 0}, 405, ""},
		{"documents by GET", probe{"GET", docsLink + "/docs", "docs", docsLink, "", nil, 0}, 405, ""},
		{"a level of consistency for one read", item("GET", "good", "", "x-ms-consistency-level", "Strong"), 400, ""},
		{"a session token from the future", item("GET", "good", "", "x-ms-session-token", "0:-1#999"), 404, "1002"},
		{"a session token that is none", item("GET", "good", "", "x-ms-session-token", "new"), 400, ""},
		{"a replacement of another id", item("PUT", "good", `{"id":"other","pk":"a"}`, "If-Match", `"x"`), 400, ""},
		{"a replacement of any version", item("PUT", "good", `{"id":"good","pk":"a"}`), 400, ""},
		{"a create with a version", create(`{"id":"fresh","pk":"a"}`, "If-Match", `"x"`), 400, ""},
		{"a create unless it is there", create(`{"id":"fresh","pk":"a"}`, "If-None-Match", "*"), 400, ""},
		{"an upsert of a version", create(`{"id":"good","pk":"a"}`, "If-Match", `"x"`, "x-ms-documentdb-is-upsert", "true"), 400, ""},
		{"a deletion of a version", item("DELETE", "good", "", "If-Match", `"x"`), 400, ""},
		{"a write that wants the document back", create(`{"id":"fresh","pk":"a"}`, "Prefer", ""), 400, ""},
		{"a patch", item("PATCH", "good", `{"operations":[{"op":"set","path":"/v","value":1}]}`), 405, ""},
		{"a batch of nothing", batch(`[]`), 400, ""},
		{"a batch that is not atomic", batch(`[{"operationType":"Read","id":"good"}]`, "x-ms-cosmos-batch-atomic", ""), 400, ""},
		{"a read in a batch with a document", batch(`[{"operationType":"Read","id":"good","resourceBody":{"id":"good","pk":"a"}}]`, "Prefer", ""), 400, ""},
		{"a read in a batch", batch(`[{"operationType":"Read","id":"good"}]`, "Prefer", ""), 200, ""},
		{"a read in a batch without what it reads", batch(`[{"operationType":"Read","id":"good"}]`), 400, ""},
		{"a read and a write in a batch", batch(`[{"operationType":"Read","id":"good"},{"operationType":"Delete","id":"good"}]`, "Prefer", ""), 400, ""},
		{"a deletion of a version in a batch", batch(`[{"operationType":"Delete","id":"good","ifMatch":"x"}]`), 207, ""},
		{"a create unless it is there in a batch", batch(`[{"operationType":"Create","resourceBody":{"id":"fresh","pk":"a"},"ifNoneMatch":"*"}]`), 400, ""},
		{"an unknown operation", batch(`[{"operationType":"Merge","id":"good"}]`), 400, ""},
		{"a create without a document", batch(`[{"operationType":"Create"}]`), 400, ""},
		{"a batch for two partitions", batch(`[{"operationType":"Create","resourceBody":{"id":"x","pk":"b"}}]`), 207, ""},
		{"a query", ask(), 200, ""},
		{"another query", create(`{"query":"SELECT * FROM c"}`, "x-ms-documentdb-query", "True", "Content-Type", "application/query+json"), 400, ""},
		{"a query of another content type", ask("Content-Type", "application/json"), 400, ""},
		{"a query over all partitions", ask("x-ms-documentdb-partitionkey", ""), 400, ""},
		{"a query for another partition", ask("x-ms-documentdb-partitionkey", `["b"]`), 400, ""},
		{"a page of no rows", ask("x-ms-max-item-count", "0"), 400, ""},
		{"a page of any number of rows", ask("x-ms-max-item-count", ""), 400, ""},
		{"a continuation of another query", ask("x-ms-continuation", "bm90aGluZw=="), 400, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			srv := cosmostest.New(nil)
			require.NoError(t, srv.CreateContainer("d", "c", ""))
			if tt.name != "a good one" {
				require.NoError(t, srv.Put("d", "c", `{"id":"good","pk":"a","n":1}`))
			}
			before := len(srv.Docs("d", "c"))
			code, header, body := send(t, srv, tt.probe)
			require.Equal(t, tt.status, code, body)
			require.Equal(t, tt.sub, header.Get("x-ms-substatus"))
			if code > 201 {
				require.Len(t, srv.Docs("d", "c"), before, "a refusal writes nothing")
			}
			if code >= 400 {
				require.Contains(t, body, `{"code":"`)
			}
		})
	}
}

func TestContainersThatAreRefused(t *testing.T) {
	t.Parallel()
	const (
		key   = `"partitionKey":{"paths":["/pk"],"kind":"Hash","version":2}`
		index = `,"indexingPolicy":{"includedPaths":[{"path":"/pk/?"}],"excludedPaths":[{"path":"/*"}]}`
	)
	srv := cosmostest.New(nil)
	require.NoError(t, srv.CreateContainer("d", "c", ""))
	for properties, code := range map[string]int{
		key + index: 201,
		`"partitionKey":{"paths":["/p"],"kind":"Hash"},"indexingPolicy":{"includedPaths":[{"path":"/p/?"}],"excludedPaths":[{"path":"/*"}]}`: 201,
		`"x":1`: 400,
		`"partitionKey":{"paths":["pk"],"kind":"Hash"}` + index:                       400,
		`"partitionKey":{"paths":["/*"],"kind":"Hash"}` + index:                       400,
		`"partitionKey":{"paths":["/pk"]}` + index:                                    400,
		`"partitionKey":{"paths":["/a","/b"],"kind":"MultiHash","version":2}` + index: 400,
		`"partitionKey":{"paths":["/a/b"],"kind":"Hash"}` + index:                     400,
		key: 400,
		key + `,"indexingPolicy":{"includedPaths":[{"path":"/*"}],"excludedPaths":[]}`:                                 400,
		key + `,"indexingPolicy":{"includedPaths":[{"path":"/pk/?"}],"excludedPaths":[]}`:                              400,
		key + `,"indexingPolicy":{"includedPaths":[{"path":"/pk/?"},{"path":"/a/?"}],"excludedPaths":[{"path":"/*"}]}`: 400,
		key + index + `,"defaultTtl":-1`:                                     400,
		key + index + `,"uniqueKeyPolicy":{"uniqueKeys":[{"paths":["/a"]}]}`: 400,
		key + index + `,` + key:                                              400,
	} {
		name := fmt.Sprint("c", len(properties))
		got, _, body := send(t, srv, probe{"POST", "dbs/d/colls", "colls", "dbs/d", `{"id":"` + name + `",` + properties + `}`, nil, 0})
		require.Equal(t, code, got, "%s: %s", properties, body)
	}
	for _, key := range []string{"pk", "/", "/*", "/a/b", `/"`} {
		require.Error(t, srv.CreateContainer("d", "e", key), key)
	}
}

// TestPartitionBytes fills a partition: what would make it larger is refused, alone and in a
// batch, and a document that went makes room.
func TestPartitionBytes(t *testing.T) {
	t.Parallel()
	_, c := open(t, &cosmostest.Options{PartitionBytes: 300})
	create := func(p, id string) error {
		_, err := c.CreateItem(t.Context(), pk(p), doc(p, id, "text", strings.Repeat("x", 100)), nil)
		return err
	}
	require.NoError(t, create("p", "a"))
	require.NoError(t, create("p", "b"))
	err := create("p", "c")
	require.Equal(t, []any{http.StatusForbidden, "1014"}, []any{status(err), substatus(err)})
	require.NoError(t, create("q", "c"))
	require.NoError(t, replaced(t.Context(), c, "p", "a", doc("p", "a", "text", strings.Repeat("y", 100))), "it is no larger")
	b := c.NewTransactionalBatch(pk("p"))
	b.UpsertItem(doc("p", "c", "text", strings.Repeat("x", 100)), nil)
	got, err := c.ExecuteTransactionalBatch(t.Context(), b, nil)
	require.NoError(t, err)
	require.EqualValues(t, http.StatusForbidden, got.OperationResults[0].StatusCode)
	_, err = c.DeleteItem(t.Context(), pk("p"), "b", nil)
	require.NoError(t, err)
	require.NoError(t, create("p", "c"))
}
