package cosmostest

import (
	"net/http"

	"github.com/amplifier-go/sessionstorage/internal/cosmostest/jsondoc"
)

const (
	headerPartitionKey = "x-ms-documentdb-partitionkey"
	maxKeyBytes        = 2048 // of a partition key's value
)

// canonicalHeader gives equal keys equal texts; what is no JSON stays.
func canonicalHeader(header string) string {
	v, err := jsondoc.Parse([]byte(header))
	if err != nil {
		return header
	}
	return string(jsondoc.Append(nil, v))
}

// parseKey returns the name of the partition that a header is about. The header is an
// array of one string.
func parseKey(header string) (string, *failure) {
	v, err := jsondoc.Parse([]byte(header))
	values, ok := v.([]jsondoc.Value)
	if err != nil || !ok || len(values) == 0 {
		return "", fail(http.StatusBadRequest, "Partition key %s is invalid", headerPartitionKey)
	}
	if len(values) > 1 {
		return "", failSub(http.StatusBadRequest, subPartitionKeyMismatch,
			"The partition key supplied has more components than the container's definition")
	}
	return keyText(values[0])
}

// keyText returns the name of a partition: the header that a client sends for it.
func keyText(v jsondoc.Value) (string, *failure) {
	key, ok := v.(string)
	if !ok || len(key) > maxKeyBytes {
		return "", fail(http.StatusBadRequest, "The partition key is no string of at most %d bytes", maxKeyBytes)
	}
	return string(jsondoc.Append(nil, []jsondoc.Value{key})), nil
}
