package foreign

import (
	"github.com/amplifier-go/sessionstorage/internal/pyjson"
)

// usage is what the responses of a model used, in tokens.
type usage struct {
	Input      int64 `json:"input_tokens"`
	Output     int64 `json:"output_tokens"`
	CacheRead  int64 `json:"cache_read_input_tokens"`
	CacheWrite int64 `json:"cache_creation_input_tokens"`
}

// spending is what the responses of a session used in its tool.
type spending struct {
	Responses int `json:"responses"`
	usage
}

func (u *usage) raise(raw []byte) {
	if pyjson.KindOf(raw) != pyjson.Object {
		return
	}
	m := pyjson.Values(raw, "input_tokens", "output_tokens", "cache_read_input_tokens", "cache_creation_input_tokens")
	for i, n := range []*int64{&u.Input, &u.Output, &u.CacheRead, &u.CacheWrite} {
		*n = max(*n, tokens(m[i]))
	}
}

func (u *usage) add(v usage) {
	u.Input += v.Input
	u.Output += v.Output
	u.CacheRead += v.CacheRead
	u.CacheWrite += v.CacheWrite
}

// most makes u the larger of both, number by number.
func (u *usage) most(v usage) {
	u.Input, u.Output = max(u.Input, v.Input), max(u.Output, v.Output)
	u.CacheRead, u.CacheWrite = max(u.CacheRead, v.CacheRead), max(u.CacheWrite, v.CacheWrite)
}

// tokens returns a number of tokens, 0 where it makes no sense.
func tokens(raw []byte) int64 {
	if v, ok := pyjson.Int(raw); ok && v > 0 && v < 1<<40 {
		return v
	}
	return 0
}

// used is what a response used.
type used struct {
	id     uint64 // see claudeLine.responseHash
	model  string
	tokens [4]int64 // as in tokenNames
}

// addTo adds a response to what its model used.
func (u used) addTo(all map[string]*spending) {
	if all[u.model] == nil {
		all[u.model] = &spending{}
	}
	all[u.model].Responses++
	all[u.model].add(usage{u.tokens[0], u.tokens[1], u.tokens[2], u.tokens[3]})
}

const unknownModel = "unknown"
