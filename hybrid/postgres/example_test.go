package postgres_test

import (
	"context"
	"log"

	"github.com/amplifier-go/sessionstorage/hybrid"
	"github.com/amplifier-go/sessionstorage/hybrid/postgres"
)

// A store whose sessions are copied to a database. The password is in PGPASSWORD or in
// ~/.pgpass.
func Example() {
	remote, err := postgres.Connect("postgres://ada@db.example.com/sessions")
	if err != nil {
		log.Fatal(err)
	}
	defer remote.Close()
	store, err := hybrid.Open(context.Background(), "", &hybrid.Options{Remote: remote, User: "ada", Project: "weather"})
	if err != nil {
		log.Fatal(err)
	}
	defer store.Close()
}
