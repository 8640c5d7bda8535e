package cosmos

import (
	"github.com/Azure/azure-sdk-for-go/sdk/azcore"

	"github.com/amplifier-go/sessionstorage/hybrid/remote"
)

// What one batch may hold. The service takes 100 operations and 2 MB.
const (
	maxOps   = 100
	maxBytes = 1800 << 10
)

// op is a change of one document: what put, swap or remove returns.
type op struct {
	kind kind
	id   string
	body []byte      // nil for remove
	etag azcore.ETag // that the document must have, for replace
}

// kind is what an operation does.
type kind uint8

const (
	upsert   kind = iota // store, whatever is there
	create               // store where nothing is
	replace              // store in the place of a version
	discards             // remove
)

// ops returns the operations of a commit: what the swap leads to is stored before it, and what
// it no longer leads to is removed after.
func ops(part string, objects []remote.Object, swap *remote.Swap) (all []op, err error) {
	for i := range objects {
		o := &objects[i]
		body, err := encode(part, o)
		if err != nil {
			return nil, err
		}
		all = append(all, op{kind: upsert, id: o.Name, body: body})
	}
	if swap == nil {
		return all, nil
	}
	body, err := encode(part, &swap.Object)
	if err != nil {
		return nil, err
	}
	change := op{kind: create, id: swap.Name, body: body}
	if swap.If != "" {
		change.kind, change.etag = replace, azcore.ETag(swap.If)
	}
	return append(append(all, change), removes(swap.Remove)...), nil
}

func removes(names []string) (all []op) {
	for _, name := range names {
		all = append(all, op{kind: discards, id: name})
	}
	return all
}
