package main

import (
	"context"
	"net/http/httptest"

	"github.com/amplifier-go/sessionstorage/hybrid/cosmos"

	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"
	"github.com/rogpeppe/go-internal/testscript"

	"github.com/amplifier-go/sessionstorage/internal/test/cosmostest"
)

// cloud starts an account with an empty container, which SESSIONS_REMOTE then
// names, until the script ends. The account takes the token "good", and "lost" is that of an identity without a role.
func cloud(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) > 0 {
		ts.Fatalf("usage: cloud")
	}
	o := cosmostest.Options{AAD: func(token string) cosmostest.TokenState {
		return map[string]cosmostest.TokenState{"good": cosmostest.TokenAccepted, "lost": cosmostest.TokenNoRole}[token]
	}}
	account := cosmostest.New(&o)
	server := httptest.NewServer(account)
	ts.Defer(server.Close)
	key, err := azcosmos.NewKeyCredential(account.Key())
	ts.Check(err)
	client, err := azcosmos.NewClientWithKey(server.URL, key, nil)
	ts.Check(err)
	defer client.Close()
	ts.Check(cosmos.Provision(context.Background(), client, cosmos.DefaultDatabase, cosmos.DefaultContainer))
	ts.Setenv("SESSIONS_REMOTE", "cosmos://test/"+cosmos.DefaultDatabase+"/"+cosmos.DefaultContainer+"?endpoint="+server.URL)
	ts.Setenv("COSMOS_KEY", account.Key())
}
