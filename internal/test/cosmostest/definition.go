package cosmostest

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
)

// A definition is a container by its properties.
type definition struct {
	properties document
	key        string // the member that is the partition key
}

// named reads the properties of a database or container.
func named(body []byte) (document, *answer) {
	d, err := parseDocument(body)
	if err != nil {
		return nil, fail(http.StatusBadRequest, "The resource body is invalid: %v", err)
	}
	id := d.text("id")
	if id == "" || len(id) > 255 || strings.ContainsAny(id, `/\?#`) || strings.HasSuffix(id, " ") {
		return nil, fail(http.StatusBadRequest, "The input name is invalid")
	}
	return d, nil
}

// propertiesOf returns the properties of a container as this project has them: one member
// of documents is the partition key, and beside the id only this member is indexed.
func propertiesOf(id, key string) []byte {
	return fmt.Appendf(nil, `{"id":%s,"partitionKey":{"paths":[%s],"kind":"Hash","version":2},"indexingPolicy":{"automatic":true,`+
		`"indexingMode":"consistent","includedPaths":[{"path":%s}],"excludedPaths":[{"path":"/*"}]}}`, quoted(id), quoted(key), quoted(key+"/?"))
}

// parseDefinition reads the properties of a container as the REST API has them.
func parseDefinition(body []byte) (d definition, no *answer) {
	if d.properties, no = named(body); no != nil {
		return d, no
	}
	var o struct {
		PartitionKey struct {
			Paths []string
			Kind  string
		}
		IndexingPolicy              struct{ IncludedPaths, ExcludedPaths []struct{ Path string } }
		UniqueKeyPolicy, DefaultTTL any
	}
	if err := json.Unmarshal(body, &o); err != nil || o.UniqueKeyPolicy != nil || o.DefaultTTL != nil {
		return d, fail(http.StatusBadRequest, "The properties are not those of a container, or have unique keys or a time to live, which are not served here")
	}
	if len(o.PartitionKey.Paths) != 1 || o.PartitionKey.Kind != "Hash" {
		return d, fail(http.StatusBadRequest, "The partition key is defined as no single member of documents")
	}
	path, ok := o.PartitionKey.Paths[0], false
	if d.key, ok = strings.CutPrefix(path, "/"); !ok || d.key == "" || strings.ContainsAny(d.key, `/*?"`) {
		return d, fail(http.StatusBadRequest, "The partition key is defined as no single member of documents")
	}
	in, out := o.IndexingPolicy.IncludedPaths, o.IndexingPolicy.ExcludedPaths
	if len(in) != 1 || len(out) != 1 || in[0].Path != path+"/?" || out[0].Path != "/*" {
		return d, fail(http.StatusBadRequest, "The indexing policy has other paths than that of the partition key, which are not served here")
	}
	return d, nil
}
