package cosmos_test

import (
	"context"
	"fmt"
	"log"

	"github.com/amplifier-go/sessionstorage/hybrid/cosmos"
)

// Connect makes no request: a store finds out whether the account answers.
func ExampleConnect() {
	config := cosmos.Config{Endpoint: "https://sessions.documents.azure.com/", Key: "AA=="}
	container, err := cosmos.Connect(context.Background(), config, nil, nil)
	if err != nil {
		log.Fatal(err)
	}
	info, err := container.Info(context.Background())
	fmt.Println(info.Identity, err)
	// Output: cosmos https://sessions.documents.azure.com amplifier/sync <nil>
}
