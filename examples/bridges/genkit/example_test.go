package genkit_test

import (
	"context"
	"fmt"
	"log"
	"os"

	"github.com/firebase/genkit/go/core/x/session"

	"github.com/amplifier-go/sessionstorage/examples/bridges/genkit"
	"github.com/amplifier-go/sessionstorage/sessionstore"
)

func Example() {
	dir, err := os.MkdirTemp("", "sessions")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	ctx := context.Background()
	store, err := sessionstore.Open(dir, nil)
	if err != nil {
		log.Fatal(err)
	}
	defer store.Close()

	type cart struct{ Items []string }
	states := genkit.New[cart](store)
	s, err := session.New(ctx, session.WithStore(states), session.WithInitialState(cart{[]string{"tea"}}))
	if err != nil {
		log.Fatal(err)
	}
	if err := s.UpdateState(ctx, cart{append(s.State().Items, "milk")}); err != nil {
		log.Fatal(err)
	}

	later, err := session.Load(ctx, states, s.ID())
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(later.State().Items)
	// Output: [tea milk]
}
