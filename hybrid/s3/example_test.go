package s3_test

import (
	"context"
	"fmt"
	"log"

	"github.com/amplifier-go/sessionstorage/hybrid"
	"github.com/amplifier-go/sessionstorage/hybrid/s3"
)

// A store syncs with a bucket. The keys are where the AWS tools have them.
func Example() {
	ctx := context.Background()
	remote, err := s3.Open(ctx, "s3://my-sessions/sync?region=eu-west-1", nil)
	if err != nil {
		log.Fatal(err)
	}
	store, err := hybrid.Open(ctx, "", &hybrid.Options{Remote: remote, User: "ada", Project: "weather", Redact: hybrid.Secrets()})
	if err != nil {
		log.Fatal(err)
	}
	defer store.Close()
	if _, err := store.Refresh(ctx, "forecast"); err != nil { // offline, or there is no such session yet
		log.Print(err)
	}
}

// Places may be of AWS or of another service. They hold no keys.
func ExampleOpen() {
	ctx := context.Background()
	for _, place := range []string{
		"s3://my-sessions/sync?region=eu-west-1",
		"s3://my-sessions?endpoint=https://account.r2.cloudflarestorage.com&region=auto",
		"s3://ada:password@my-sessions",
	} {
		remote, err := s3.Open(ctx, place, nil)
		if err != nil {
			fmt.Println(err)
			continue
		}
		info, err := remote.Info(ctx)
		fmt.Println(info.Identity, err)
	}
	// Output:
	// s3 aws my-sessions/sync/ <nil>
	// s3 https://account.r2.cloudflarestorage.com my-sessions/ <nil>
	// open remote s3: a place holds no keys: put them into AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or into ~/.aws/credentials and add profile=NAME
}
