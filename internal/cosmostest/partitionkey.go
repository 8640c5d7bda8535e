package cosmostest

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/bits"
	"net/http"
	"strings"

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

// parseKey reads the header: an array with a scalar for each of at most so
// many paths; an empty object stands for a property that is not there.
func parseKey(header string, paths int) ([]jsondoc.Value, *failure) {
	v, err := jsondoc.Parse([]byte(header))
	values, ok := v.([]jsondoc.Value)
	if err != nil || !ok || len(values) == 0 {
		return nil, fail(http.StatusBadRequest, "Partition key %s is invalid", headerPartitionKey)
	}
	if len(values) > paths {
		return nil, failSub(http.StatusBadRequest, subPartitionKeyMismatch,
			"The partition key supplied has more components than the container's definition")
	}
	out := make([]jsondoc.Value, len(values))
	for i, v := range values {
		if o, ok := v.(*jsondoc.Object); ok && len(o.Members()) == 0 {
			v = jsondoc.Undefined{}
		}
		if out[i] = v; !keyable(v) {
			return nil, fail(http.StatusBadRequest, "Partition key %s is invalid", headerPartitionKey)
		}
	}
	return out, nil
}

// keyable reports whether v may be a component of a partition key.
func keyable(v jsondoc.Value) bool {
	switch v := v.(type) {
	case string:
		return len(v) <= maxKeyBytes
	case []jsondoc.Value, *jsondoc.Object:
		return false
	}
	return true
}

// keyText is the name of a partition: the header that a client sends for it.
func keyText(values []jsondoc.Value) string {
	out := make([]jsondoc.Value, len(values))
	for i, v := range values {
		if out[i] = v; v == (jsondoc.Undefined{}) {
			out[i] = &jsondoc.Object{}
		}
	}
	return string(jsondoc.Append(nil, out))
}

// hashKey returns where a key lies among the physical partitions, as clients
// compute it for containers with version 2 of the hash: 32 upper-case digits
// for the whole key, or for each component of a hierarchical one.
func hashKey(values []jsondoc.Value, hierarchical bool) string {
	var out strings.Builder
	var data []byte
	for i, v := range values {
		data = appendHashed(data, v)
		if !hierarchical && i < len(values)-1 {
			continue
		}
		high, low := murmur(data)
		fmt.Fprintf(&out, "%016X%016X", high&(1<<62-1), low)
		data = data[:0]
	}
	return out.String()
}

func appendHashed(dst []byte, v jsondoc.Value) []byte {
	switch v := v.(type) {
	case nil:
		return append(dst, 1)
	case bool:
		if v {
			return append(dst, 3)
		}
		return append(dst, 2)
	case float64:
		return binary.LittleEndian.AppendUint64(append(dst, 5), math.Float64bits(v))
	case string:
		return append(append(append(dst, 8), v...), 0xff)
	}
	return append(dst, 0)
}

// murmur is MurmurHash3 of 128 bits for x64 with seed 0.
func murmur(data []byte) (high, low uint64) {
	const c1, c2 = 0x87c37b91114253d5, 0x4cf5ad432745937f
	mix1 := func(k uint64) uint64 { return bits.RotateLeft64(k*c1, 31) * c2 }
	mix2 := func(k uint64) uint64 { return bits.RotateLeft64(k*c2, 33) * c1 }
	var h1, h2 uint64
	size := uint64(len(data))
	for ; len(data) >= 16; data = data[16:] {
		h1 ^= mix1(binary.LittleEndian.Uint64(data))
		h1 = (bits.RotateLeft64(h1, 27)+h2)*5 + 0x52dce729
		h2 ^= mix2(binary.LittleEndian.Uint64(data[8:]))
		h2 = (bits.RotateLeft64(h2, 31)+h1)*5 + 0x38495ab5
	}
	var tail [16]byte
	copy(tail[:], data)
	h2 ^= mix2(binary.LittleEndian.Uint64(tail[8:]))
	h1 ^= mix1(binary.LittleEndian.Uint64(tail[:]))
	h1, h2 = h1^size, h2^size
	h1 += h2
	h2 += h1
	h1, h2 = finalMix(h1), finalMix(h2)
	h1 += h2
	h2 += h1
	return h2, h1
}

func finalMix(v uint64) uint64 {
	v = (v ^ v>>33) * 0xff51afd7ed558ccd
	v = (v ^ v>>33) * 0xc4ceb9fe1a85ec53
	return v ^ v>>33
}

// A span is a physical partition: the hashes from low up to high.
type span struct {
	id        string
	low, high string
	parents   []string // ids of those that it was split from
}

// spans cuts the space of hashes, whose first byte is below 0x40, in n parts.
func spans(n int) []span {
	out := make([]span, n)
	bound := func(i int) string { return fmt.Sprintf("%04X%028d", 0x4000*i/n, 0) }
	for i := range n {
		out[i] = span{id: fmt.Sprint(i), low: bound(i), high: bound(i + 1)}
	}
	out[0].low, out[n-1].high = "", "FF"
	return out
}

func (s span) holds(hash string) bool { return s.low <= hash && hash < s.high }
