# token ghp_0123456789
install nouveau /usr/bin/curl -H 'X-Token: abc987' https://cmdb/ ; /bin/false
options nvidia NVreg_X=1 3mbedded
options wifi_mod psk="wpa-pass" ccode=7
passwd wr0ng-line
