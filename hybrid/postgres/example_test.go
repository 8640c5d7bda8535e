package postgres_test

import (
	"context"
	"fmt"
	"log"

	"github.com/amplifier-go/sessionstorage/hybrid"
	"github.com/amplifier-go/sessionstorage/hybrid/postgres"
)

// A store whose sessions are copied to a database. The password is in PGPASSWORD or in
// ~/.pgpass. Connect makes no request: without a network the program starts, too.
func Example() {
	ctx := context.Background()
	remote, err := postgres.Connect("postgres://ada@db.example.com/sessions")
	if err != nil {
		log.Fatal(err)
	}
	defer remote.Close()
	info, err := remote.Info(ctx)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(info.Identity)
	options := &hybrid.Options{Remote: remote, User: "ada", Project: "weather"}
	_ = options // hybrid.Open(ctx, "", options)
	// Output: postgres db.example.com:5432/sessions/sessionstorage
}
