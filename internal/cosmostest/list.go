package cosmostest

import (
	"encoding/json"
	"net/http"

	"github.com/amplifier-go/sessionstorage/internal/cosmostest/cosmossql"
	"github.com/amplifier-go/sessionstorage/internal/cosmostest/jsondoc"
)

// parseQuery reads the body of a query.
func parseQuery(c *call) (*cosmossql.Query, *failure) {
	if c.header.Get("Content-Type") != "application/query+json" {
		return nil, fail(http.StatusBadRequest, "A query has the content type application/query+json")
	}
	var body struct {
		Query      string            `json:"query"`
		Parameters []cosmossql.Param `json:"parameters"`
	}
	if err := json.Unmarshal(c.Body, &body); err != nil {
		return nil, fail(http.StatusBadRequest, "The query body is invalid")
	}
	q, err := cosmossql.Parse(body.Query, body.Parameters)
	if err != nil {
		return nil, fail(http.StatusBadRequest, "The query is invalid: %v", err)
	}
	return q, nil
}

// queryList serves a query for databases, containers or offers, on one page.
func queryList(c *call, name string, all []*jsondoc.Object) (*answer, *failure) {
	q, f := parseQuery(c)
	if f != nil {
		return nil, f
	}
	if q.Local() {
		return nil, fail(http.StatusBadRequest, "The query is more than a filter")
	}
	rows := []jsondoc.Value{}
	for _, o := range all {
		if !q.Keep(o) {
			continue
		}
		if row, ok := q.Row(o); ok {
			rows = append(rows, row)
		}
	}
	a := &answer{status: http.StatusOK, charge: controlCharge}
	a.body = listBody("", name, rows)
	return a, nil
}
