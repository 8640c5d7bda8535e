package remote_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"os"

	"github.com/amplifier-go/sessionstorage/hybrid/dir"
	"github.com/amplifier-go/sessionstorage/hybrid/remote"
)

// Two devices replace one object. The one that read a former version does not.
func Example() {
	ctx := context.Background()
	place, err := os.MkdirTemp("", "remote")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(place)
	if err := dir.Provision(ctx, place); err != nil {
		log.Fatal(err)
	}
	r, err := dir.Open(ctx, place)
	if err != nil {
		log.Fatal(err)
	}
	defer r.Close()
	head := func(text string, was remote.Version) *remote.Swap {
		return &remote.Swap{Object: remote.Object{Name: "head", Label: []byte("{}"), Body: []byte(text)}, If: was}
	}
	first, err := r.Commit(ctx, "part", nil, head("one", ""))
	if err != nil {
		log.Fatal(err)
	}
	if _, err := r.Commit(ctx, "part", nil, head("two", first)); err != nil {
		log.Fatal(err)
	}
	_, err = r.Commit(ctx, "part", nil, head("late", first))
	fmt.Println(errors.Is(err, remote.ErrChanged))
	o, err := r.Get(ctx, "part", "head", "")
	fmt.Println(string(o.Body), err)
	// Output:
	// true
	// two <nil>
}
