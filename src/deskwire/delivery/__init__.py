"""How deliveries travel: names resolved, addresses checked, one HTTP request per attempt."""
